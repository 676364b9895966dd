//! The shape of a body: its field, and optionally points or triangles of its surface, for the
//! methods that use them.
//!
//! Input: any [`Field`]; a [`PointShell`] or [`Surface`] of the same solid.
//! Output: a [`Shape`] that holds them behind shared pointers, cheap to clone.
//! Cost: none beyond its parts.
//! Not for: poses, which belong to bodies.

use std::sync::Arc;

use super::thickness::{Chords, FieldChords, Place, SurfaceChords, Thickness, least_wall};
use super::{Convex, Surface};
use glam::Vec3;

use crate::field::{Field, FieldOctree, ParameterError, StoredField};
use crate::geom::Aabb;
use crate::pointshell::PointShell;

/// The geometry of a body in its own frame, as contact queries use it.
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
    center_of_mass: Option<Vec3>,
}

impl Shape {
    /// Creates a shape from a field without cells: a closed form, or a composition of closed forms.
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
            center_of_mass: None,
        }
    }

    /// Creates a shape from a stored field.
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
            center_of_mass: None,
        }
    }

    /// Creates a shape from a convex body. Queries between two convex bodies are exact; with any
    /// other shape its field is used.
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
            center_of_mass: None,
        })
    }

    /// Adds points on the surface.
    pub fn with_shell(self, shell: Arc<PointShell>) -> Shape {
        Shape {
            shell: Some(shell),
            ..self
        }
    }

    /// Adds triangles that approximate the surface, such as those of a tessellation or an
    /// isosurface.
    pub fn with_surface(self, surface: Arc<Surface>) -> Shape {
        Shape {
            surface: Some(surface),
            surface_is_exact: false,
            ..self
        }
    }

    /// Adds the triangles from which the field's distances were computed: those of the mesh it was
    /// baked from. The distance between separated bodies is then that of their triangles, whatever
    /// the error of the fields.
    ///
    /// Not for fields whose signs define a different surface, such as those of
    /// [`SignMethod::Offset`](crate::field::SignMethod::Offset).
    pub fn with_exact_surface(self, surface: Arc<Surface>) -> Shape {
        Shape {
            surface: Some(surface),
            surface_is_exact: true,
            ..self
        }
    }

    /// Removes the triangles.
    pub fn without_surface(self) -> Shape {
        Shape {
            surface: None,
            surface_is_exact: false,
            ..self
        }
    }

    /// Adds an octree that speeds up `swept_points` queries. It must be built over the same field.
    pub fn with_octree(self, octree: Arc<FieldOctree>) -> Shape {
        Shape {
            octree: Some(octree),
            ..self
        }
    }

    /// Adds the centre of mass, in the frame of the shape \[m\].
    pub fn with_center_of_mass(self, center: Vec3) -> Shape {
        Shape {
            center_of_mass: Some(center),
            ..self
        }
    }

    /// Returns the signed distance field, in the frame of the shape.
    pub fn field(&self) -> &dyn Field {
        &*self.field
    }

    /// Returns the shared pointer to the field, which identifies the shape.
    pub(crate) fn field_pointer(&self) -> &Arc<dyn Field> {
        &self.field
    }

    /// Returns the field, if it is a stored one.
    pub fn as_stored(&self) -> Option<&StoredField> {
        self.stored.as_deref()
    }

    /// Returns the shared pointer to the field, if it is a stored one.
    pub fn stored_pointer(&self) -> Option<Arc<StoredField>> {
        self.stored.clone()
    }

    /// Returns the octree over the field, if it was added.
    pub fn octree(&self) -> Option<&FieldOctree> {
        self.octree.as_deref()
    }

    /// Returns the points on the surface, if they were added.
    pub fn shell(&self) -> Option<&PointShell> {
        self.shell.as_deref()
    }

    /// Returns the triangles of the surface, if they were added.
    pub fn surface(&self) -> Option<&Surface> {
        self.surface.as_deref()
    }

    /// Returns the triangles of the surface, if they represent it exactly and are closed.
    pub fn exact_surface(&self) -> Option<&Surface> {
        self.surface()
            .filter(|surface| self.surface_is_exact && surface.closed_parts().is_some())
    }

    /// Returns the convex body, if the shape was made from one.
    pub fn as_convex(&self) -> Option<&Convex> {
        self.convex.as_deref()
    }

    /// Returns the centre of mass in the frame of the shape \[m\], if it was added.
    pub fn center_of_mass(&self) -> Option<Vec3> {
        self.center_of_mass
    }

    /// Returns a box that contains the solid \[m\]; infinite if the solid is unbounded.
    pub fn solid(&self) -> Aabb {
        self.solid
    }

    /// Measures the thickness of the body, from its triangles if it has a closed surface of them,
    /// else from its field at the points of its shell. Takes milliseconds, so callers should keep
    /// the result.
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
        /// Maximum number of shell points to evaluate.
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
        // Walls farther apart than the largest ball inside is wide, such as the two ends of a rod,
        // do not count; the ball's diameter is used. A grid underestimates depth by up to a cell on
        // either side.
        let cell = f64::from(self.cell_size);
        let thickest = 2.0 * deepest.max(0.5 * cell);
        let wall = wall.filter(|&wall| wall <= thickest + 2.0 * cell + 1e-3 * thickest);
        Thickness {
            wall: wall.unwrap_or(thickest) as f32,
            deepest: deepest as f32,
        }
    }

    /// Returns the side length of the smallest cells of the field \[m\]; 0 for a closed form.
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
