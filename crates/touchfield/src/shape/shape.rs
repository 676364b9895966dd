//! A body's shape: its field, and points or triangles of its surface for the methods that want them.
//!
//! Input: any [`Field`], a [`PointShell`] or [`Surface`] made of the same solid. Output: all behind shared pointers, cheap to clone.
//! Cost: none beyond what they hold. Not for: poses, which belong to bodies.

use std::sync::Arc;

use super::{Convex, Surface};
use crate::field::{Field, FieldOctree, ParameterError, StoredField};
use crate::geom::Aabb;
use crate::pointshell::PointShell;

/// What contact queries know of a body, in its own frame.
#[derive(Clone)]
pub struct Shape {
    field: Arc<dyn Field>,
    stored: Option<Arc<StoredField>>,
    octree: Option<Arc<FieldOctree>>,
    shell: Option<Arc<PointShell>>,
    surface: Option<Arc<Surface>>,
    surface_is_exact: bool,
    convex: Option<Arc<Convex>>,
    solid: Aabb,
    cell_size: f32,
}

impl Shape {
    /// A shape from a field without cells: a closed form, or what is made of such.
    pub fn new(field: impl Field + 'static) -> Shape {
        let solid = field.bounds();
        Shape {
            field: Arc::new(field),
            stored: None,
            octree: None,
            shell: None,
            surface: None,
            surface_is_exact: false,
            convex: None,
            solid,
            cell_size: 0.0,
        }
    }

    /// A shape from a stored field.
    pub fn stored(field: Arc<StoredField>) -> Shape {
        Shape {
            solid: field.solid(),
            cell_size: field.finest_cell_size(),
            stored: Some(field.clone()),
            octree: None,
            field,
            shell: None,
            surface: None,
            surface_is_exact: false,
            convex: None,
        }
    }

    /// A convex body, which two of its kind are asked for exactly, and everything else as a field.
    pub fn convex(convex: Convex) -> Result<Shape, ParameterError> {
        Ok(Shape {
            field: convex.field()?,
            stored: None,
            octree: None,
            shell: None,
            surface: None,
            surface_is_exact: false,
            solid: convex.bounds(),
            convex: Some(Arc::new(convex)),
            cell_size: 0.0,
        })
    }

    /// The same shape with points on its surface.
    pub fn with_shell(self, shell: Arc<PointShell>) -> Shape {
        Shape {
            shell: Some(shell),
            ..self
        }
    }

    /// The same shape with triangles near its surface: those of a tessellation, or of an isosurface.
    pub fn with_surface(self, surface: Arc<Surface>) -> Shape {
        Shape {
            surface: Some(surface),
            surface_is_exact: false,
            ..self
        }
    }

    /// The same shape with the triangles that its field tells the distance to: those of the mesh it was baked from. Bodies that are apart are then as far
    /// apart as their triangles, whatever the error of the fields.
    ///
    /// Not for fields whose signs make a surface of their own, such as those of [`SignMethod::Offset`](crate::field::SignMethod::Offset).
    pub fn with_exact_surface(self, surface: Arc<Surface>) -> Shape {
        Shape {
            surface: Some(surface),
            surface_is_exact: true,
            ..self
        }
    }

    /// The same shape with an octree over its field, which points that move past it want. To be built over the same field.
    pub fn with_octree(self, octree: Arc<FieldOctree>) -> Shape {
        Shape {
            octree: Some(octree),
            ..self
        }
    }

    /// Signed distance, in the frame of the shape.
    pub fn field(&self) -> &dyn Field {
        &*self.field
    }

    /// The pointer to the field, by which a shape is told from others.
    pub(crate) fn field_pointer(&self) -> &Arc<dyn Field> {
        &self.field
    }

    /// The field, if it is a stored one.
    pub fn as_stored(&self) -> Option<&StoredField> {
        self.stored.as_deref()
    }

    /// The octree over its field, if it has one.
    pub fn octree(&self) -> Option<&FieldOctree> {
        self.octree.as_deref()
    }

    /// Points on the surface, if it has them.
    pub fn shell(&self) -> Option<&PointShell> {
        self.shell.as_deref()
    }

    /// Triangles of the surface, if it has them.
    pub fn surface(&self) -> Option<&Surface> {
        self.surface.as_deref()
    }

    /// Triangles of the surface, if they are all there is to it, and close.
    pub fn exact_surface(&self) -> Option<&Surface> {
        self.surface()
            .filter(|surface| self.surface_is_exact && surface.closed_parts().is_some())
    }

    /// The convex body, if it is one.
    pub fn as_convex(&self) -> Option<&Convex> {
        self.convex.as_deref()
    }

    /// A box that holds the solid \[m\]; endless where the solid is.
    pub fn solid(&self) -> Aabb {
        self.solid
    }

    /// Sides of the smallest cells of the field \[m\]; 0 for a closed form.
    pub fn cell_size(&self) -> f32 {
        self.cell_size
    }
}

impl std::fmt::Debug for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shape")
            .field("solid", &self.solid)
            .field("cell_size", &self.cell_size)
            .field(
                "shell_points",
                &self.shell.as_ref().map(|shell| shell.points().len()),
            )
            .field(
                "triangles",
                &(self.surface.as_ref()).map(|surface| surface.triangles().len()),
            )
            .finish_non_exhaustive()
    }
}
