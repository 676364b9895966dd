//! A body's shape: its field, and points or triangles of its surface for the methods that want them.
//!
//! Input: any [`Field`], a [`PointShell`] or [`Surface`] made of the same solid. Output: all behind shared pointers, cheap to clone.
//! Cost: none beyond what they hold. Not for: poses, which belong to bodies.

use std::sync::Arc;

use super::thickness::{Chords, FieldChords, Place, SurfaceChords, Thickness, least_wall};
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

    /// Measures how thick the body is, from its triangles where it has a closed surface of them, else
    /// from its field at the points of its shell. Milliseconds: keep the answer.
    ///
    /// ```
    /// use touchfield::shape::{Convex, Shape};
    /// use glam::Vec3;
    /// # use std::sync::Arc;
    /// # use touchfield::bake::pointshell::{ShellSettings, shell_of_field};
    /// let plate = Shape::convex(Convex::cuboid(Vec3::new(0.05, 0.05, 0.001))?)?;
    /// let shell = shell_of_field(plate.field(), 0.002, &ShellSettings::default())?;
    /// let plate = plate.with_shell(Arc::new(shell));
    /// assert!((plate.thickness().wall - 0.002).abs() < 1e-5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn thickness(&self) -> Thickness {
        /// Points of the shell that are looked at, at most.
        const MOST_POINTS: usize = 4096;
        let size = self.solid.diagonal();
        let chords = FieldChords::new(self.field(), size, self.cell_size);
        let points = self.shell().map_or(&[][..], |shell| shell.points());
        let stride = points.len().div_ceil(MOST_POINTS).max(1);
        let points = points.iter().step_by(stride);
        let places: Vec<Place> = points
            .filter_map(|point| chords.onto(point.as_dvec3()))
            .collect();
        let depths = places.iter().map(|&place| match chords.chord(place) {
            Some(chord) => chords.deepest(place, chord.length),
            None => 0.0,
        });
        let deepest = depths.fold(0.0, f64::max);
        let exact = self.surface().and_then(SurfaceChords::new);
        let wall = match &exact {
            Some(exact) => least_wall(exact, exact.places()),
            None => least_wall(&chords, places),
        };
        // Where walls are farther apart than a ball between them is wide, such as the ends of a rod,
        // the ball counts. A grid rounds the middle of a body off by up to a cell on either side.
        let cell = f64::from(self.cell_size);
        let thickest = 2.0 * deepest.max(0.5 * cell);
        let wall = wall.filter(|&wall| wall <= thickest + 2.0 * cell + 1e-3 * thickest);
        Thickness {
            wall: wall.unwrap_or(thickest) as f32,
            deepest: deepest as f32,
        }
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
