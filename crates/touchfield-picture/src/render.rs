//! A lit picture of bodies, by sphere tracing.
//!
//! Input: fields with finite boxes, their poses and colours; a direction to look from.
//! Output: a picture on a light backdrop, with a ground that receives soft shadows.
//! Cost: some fifty distance samples per pixel that a body covers, and nine times that along edges;
//! all cores.
//! Not for: hair-thin bodies (see [`super::trace`]), transparency, mirrors.
//!
//! Pixels are traced once; those that differ from a neighbour are traced again with nine rays. Each
//! pixel is written to its own slot, so the picture does not depend on the number of threads.

use glam::{Vec2, Vec3};
use rayon::prelude::*;
use thiserror::Error;
use touchfield::{
    field::Field,
    geom::{Aabb, Pose},
};

use super::{
    camera::Camera,
    canvas::{Canvas, Rgb, SizeError, linear_from_srgb, srgb_from_linear},
    ticks::round_below,
    trace::{Body, Ray, Scene},
};

/// Colours for the first bodies of a scene.
pub const PALETTE: [Rgb; 6] = [
    [78, 128, 188],
    [236, 160, 62],
    [70, 158, 146],
    [212, 98, 84],
    [140, 108, 172],
    [150, 156, 164],
];

/// Share of the frame that the bodies fill.
pub(super) const FILL: f32 = 0.78;
/// Rays per side of a pixel on an edge.
const EDGE_RAYS: u32 = 3;
/// Difference in an 8-bit channel that counts as an edge: above the lines of the ground, which are
/// smooth already, and below a visible stair step.
const EDGE_CONTRAST: u8 = 22;
/// Surface index of the backdrop; bodies are counted from 0.
const BACKDROP: u16 = u16::MAX;

const CONTACT: Rgb = [26, 24, 36];
const HALO: Rgb = [255, 255, 255];

/// One body of a scene.
#[derive(Clone, Copy)]
pub struct RenderBody<'a> {
    /// The shape, in its own frame.
    pub field: &'a dyn Field,
    /// Pose of the field in the world.
    pub world_from_field: Pose,
    /// Colour of the body; see [`PALETTE`].
    pub colour: Rgb,
    /// Minimum length over which normals are computed \[m\]: about one cell of a grid, to hide its
    /// facets; 0 for smooth fields.
    pub smoothing: f32,
}

/// A contact to draw over the bodies, in the world frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactMark {
    /// Contact point \[m\].
    pub point: Vec3,
    /// Unit normal, drawn as an arrow.
    pub normal: Vec3,
}

/// Size, camera and ground of a render; z is up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RenderSettings {
    /// Number of columns.
    pub width: u32,
    /// Number of rows.
    pub height: u32,
    /// Direction of the camera from the scene, measured from x towards y \[rad\].
    pub azimuth: f32,
    /// Elevation of the camera over the horizon \[rad\], from −π/2 to π/2.
    pub elevation: f32,
    /// Magnification: 1 fits the bodies into the frame, 2 shows them twice as large.
    pub zoom: f32,
    /// Whether to draw a ground with shadows and a grid.
    pub ground: bool,
    /// Box of the world that fills the frame, whatever the bodies; for pictures of one scene at
    /// several times. `None`: the bodies fill it.
    pub frame: Option<Aabb>,
}

impl Default for RenderSettings {
    fn default() -> RenderSettings {
        RenderSettings {
            width: 1200,
            height: 900,
            azimuth: -0.95,
            elevation: 0.45,
            zoom: 1.0,
            ground: true,
            frame: None,
        }
    }
}

/// Why a scene cannot be rendered.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum RenderError {
    /// There are no bodies, or more than surface indices can count.
    #[error("{count} bodies given; a picture shows 1 to {}", BACKDROP - 1)]
    Bodies {
        /// Number of bodies given.
        count: usize,
    },
    /// A body's box has no finite, positive size.
    #[error("the box of body {body}, from {:?} to {:?}, cannot be framed; a picture needs a finite box of positive size (intersect the field with one)", .bounds.min.to_array(), .bounds.max.to_array())]
    Bounds {
        /// Index of the body.
        body: usize,
        /// Its box \[m\].
        bounds: Aabb,
    },
    /// A body's pose is not a rigid motion.
    #[error("the pose of body {body} holds values that are not finite, or a zero quaternion")]
    Pose {
        /// Index of the body.
        body: usize,
    },
    /// The camera settings are out of range.
    #[error(
        "azimuth {azimuth:?} rad, elevation {elevation:?} rad and zoom {zoom:?} make no view; elevation is from −π/2 to π/2 and zoom from 0.01 to 100"
    )]
    Camera {
        /// Azimuth as given \[rad\].
        azimuth: f32,
        /// Elevation as given \[rad\].
        elevation: f32,
        /// Zoom as given.
        zoom: f32,
    },
    /// The picture size is not supported.
    #[error(transparent)]
    Size(#[from] SizeError),
}

/// A body of a [`SceneView`].
#[derive(Clone, Copy)]
pub struct SceneBody<'a> {
    /// The shape, in its own frame.
    pub field: &'a dyn Field,
    /// Pose of the scene in the frame of the field.
    pub field_from_scene: Pose,
    /// Reflected share of linear light.
    pub albedo: Vec3,
    /// Minimum length over which normals are computed \[m\].
    pub smoothing: f32,
}

/// All numbers that the light through a position on the picture depends on. The scene frame has the
/// world's axes and its origin amid the bodies \[m\].
#[derive(Clone)]
pub struct SceneView<'a> {
    /// The bodies, in the order given.
    pub bodies: Vec<SceneBody<'a>>,
    /// Position of the camera.
    pub origin: Vec3,
    /// Unit vectors to the right of the picture, to its top, and into it.
    pub axes: [Vec3; 3],
    /// Width of a pixel at distance 1.
    pub pixel: f32,
    /// Centre of the picture \[px\].
    pub center: Vec2,
    /// Height of the picture \[px\].
    pub height: f32,
    /// Unit vector to the light.
    pub to_light: Vec3,
    /// Diagonal of the box around all bodies \[m\].
    pub size: f32,
    /// Position of the world's origin.
    pub scene_from_world: Vec3,
    /// Distance between the lines on the ground \[m\].
    pub grid_step: f32,
    /// Height of the ground, if there is one \[m\].
    pub ground: Option<f32>,
}

/// The linear light through a position on the picture, and the index of the body that it comes
/// from; `u16::MAX` for the backdrop.
pub type Lit = (Vec3, u16);

/// Renders `bodies`, and draws `contacts` over them.
pub fn render(
    bodies: &[RenderBody],
    contacts: &[ContactMark],
    settings: &RenderSettings,
) -> Result<Canvas, RenderError> {
    let canvas = Canvas::new(settings.width, settings.height, HALO)?;
    let view = View::new(bodies, settings)?;
    let shade = |places: &[Vec2]| {
        let lit = places.par_iter().map(|&place| view.shade(place));
        Ok(lit.collect())
    };
    view.fill(canvas, contacts, shade)
}

/// Renders like [`render`], with the light computed elsewhere: `shade` gets the view and positions
/// on the picture \[px\], and returns one [`Lit`] for each.
pub fn render_with<E: From<RenderError>>(
    bodies: &[RenderBody],
    contacts: &[ContactMark],
    settings: &RenderSettings,
    shade: impl Fn(&SceneView, &[Vec2]) -> Result<Vec<Lit>, E>,
) -> Result<Canvas, E> {
    let canvas = Canvas::new(settings.width, settings.height, HALO).map_err(RenderError::from)?;
    let view = View::new(bodies, settings)?;
    let seen = view.numbers();
    view.fill(canvas, contacts, |places| shade(&seen, places))
}

/// Returns whether a pixel shows another surface or another brightness than a horizontal or
/// vertical neighbour.
fn is_edge(pixels: &[Rgb], surfaces: &[u16], columns: usize, x: usize, y: usize) -> bool {
    let here = y * columns + x;
    let differs = |there: usize| {
        surfaces[here] != surfaces[there]
            || (0..3).any(|i| pixels[here][i].abs_diff(pixels[there][i]) > EDGE_CONTRAST)
    };
    (x > 0 && differs(here - 1))
        || (x + 1 < columns && differs(here + 1))
        || (y > 0 && differs(here - columns))
        || (here + columns < pixels.len() && differs(here + columns))
}

/// Everything needed to shade a pixel. The scene frame has the world's axes and its origin amid the
/// bodies: far from the world's origin `f32` would be too coarse.
struct View<'a> {
    scene: Scene<'a>,
    camera: Camera,
    scene_from_world: Vec3,
    to_light: Vec3,
    grid_step: f32,
    height: f32,
}

impl<'a> View<'a> {
    fn new(bodies: &[RenderBody<'a>], settings: &RenderSettings) -> Result<View<'a>, RenderError> {
        let &RenderSettings {
            azimuth,
            elevation,
            zoom,
            ..
        } = settings;
        // Check the camera settings and the bodies, and compute the box around all bodies.
        let half_turn = std::f32::consts::FRAC_PI_2 + 1e-3;
        if !(azimuth.is_finite() && elevation.abs() <= half_turn && (0.01..=100.0).contains(&zoom))
        {
            return Err(RenderError::Camera {
                azimuth,
                elevation,
                zoom,
            });
        }
        if bodies.is_empty() || bodies.len() >= usize::from(BACKDROP) {
            return Err(RenderError::Bodies {
                count: bodies.len(),
            });
        }
        let mut world_box = Aabb::EMPTY;
        for (index, body) in bodies.iter().enumerate() {
            let bounds = body.field.bounds();
            if bounds.is_empty() || !(bounds.diagonal().is_normal() && bounds.center().is_finite())
            {
                return Err(RenderError::Bounds {
                    body: index,
                    bounds,
                });
            }
            let Pose {
                rotation,
                translation,
            } = body.world_from_field;
            let length = rotation.length();
            if !(translation.is_finite() && length.is_normal()) {
                return Err(RenderError::Pose { body: index });
            }
            let corners = bounds
                .corners()
                .map(|corner| rotation.normalize() * corner + translation);
            world_box = world_box.union(Aabb::of_points(corners));
        }
        let size = world_box.diagonal();
        if !size.is_normal() {
            return Err(RenderError::Bounds {
                body: 0,
                bounds: world_box,
            });
        }

        // Move the bodies into the scene frame.
        let scene_from_world = -world_box.center();
        let traced = bodies.iter().map(|body| {
            let scene_from_field = Pose {
                rotation: body.world_from_field.rotation.normalize(),
                translation: body.world_from_field.translation + scene_from_world,
            };
            Body {
                field: body.field,
                bounds: body.field.bounds(),
                field_from_scene: scene_from_field.inverse(),
                scene_from_field,
                albedo: Vec3::from(body.colour.map(linear_from_srgb)),
                smoothing: if body.smoothing.is_finite() {
                    body.smoothing.max(0.0)
                } else {
                    0.0
                },
            }
        });
        let mut scene = Scene {
            bodies: traced.collect(),
            ground: None,
            size,
        };
        if settings.ground {
            scene.ground = scene.lowest();
        }
        // Frame the corners of all boxes.
        let corners: Vec<Vec3> = scene
            .bodies
            .iter()
            .flat_map(|body| {
                body.bounds
                    .corners()
                    .map(|c| body.scene_from_field.transform_point(c))
            })
            .collect();
        let (light_azimuth, light_elevation) = (azimuth - 0.85, 0.92_f32);
        let framed = settings
            .frame
            .filter(|frame| frame.is_finite() && !frame.is_empty());
        let camera = match framed {
            Some(frame) => {
                let corners = frame.corners().map(|corner| corner + scene_from_world);
                Camera::framing(&corners, settings)
            }
            None => {
                let camera = Camera::framing(&corners, settings);
                // Round bodies do not reach the corners of their boxes: frame again what is
                // visible.
                let seen = camera.visible_points(&scene, settings);
                match seen.is_empty() {
                    true => camera,
                    false => Camera::framing(&seen, settings),
                }
            }
        };
        Ok(View {
            camera,
            scene,
            scene_from_world,
            to_light: Vec3::new(
                light_elevation.cos() * light_azimuth.cos(),
                light_elevation.cos() * light_azimuth.sin(),
                light_elevation.sin(),
            ),
            grid_step: round_below(f64::from(size) / 5.0) as f32,
            height: settings.height as f32,
        })
    }

    /// Fills a picture: every pixel once, those on edges again with several rays, contacts last.
    fn fill<E>(
        &self,
        mut canvas: Canvas,
        contacts: &[ContactMark],
        shade: impl Fn(&[Vec2]) -> Result<Vec<Lit>, E>,
    ) -> Result<Canvas, E> {
        let columns = canvas.width() as usize;
        let middle = |index: usize| {
            let (x, y) = (index % columns, index / columns);
            Vec2::new(x as f32, y as f32) + 0.5
        };
        // Every pixel once.
        let places: Vec<Vec2> = (0..canvas.pixels().len()).map(middle).collect();
        let lit = shade(&places)?;
        for (pixel, (light, _)) in canvas.pixels_mut().iter_mut().zip(&lit) {
            *pixel = light.to_array().map(srgb_from_linear);
        }
        // Pixels on edges again, with several rays.
        let surfaces: Vec<u16> = lit.iter().map(|&(_, surface)| surface).collect();
        let first = canvas.pixels();
        let edges: Vec<usize> = (0..first.len())
            .into_par_iter()
            .filter(|&at| is_edge(first, &surfaces, columns, at % columns, at / columns))
            .collect();
        let rays = EDGE_RAYS * EDGE_RAYS;
        let places: Vec<Vec2> = (edges.iter())
            .flat_map(|&edge| {
                (0..rays).map(move |i| {
                    let inside = Vec2::new((i % EDGE_RAYS) as f32, (i / EDGE_RAYS) as f32);
                    middle(edge) - 0.5 + (inside + 0.5) / EDGE_RAYS as f32
                })
            })
            .collect();
        let lit = shade(&places)?;
        for (&edge, lit) in edges.iter().zip(lit.chunks_exact(rays as usize)) {
            let mut sum = Vec3::ZERO;
            for (light, _) in lit {
                sum += light.min(Vec3::ONE);
            }
            let light = sum / rays as f32;
            canvas.pixels_mut()[edge] = light.to_array().map(srgb_from_linear);
        }
        for contact in contacts {
            self.draw_contact(&mut canvas, contact);
        }
        Ok(canvas)
    }

    /// Returns the numbers that the light depends on.
    fn numbers(&self) -> SceneView<'a> {
        let bodies = self.scene.bodies.iter().map(|body| SceneBody {
            field: body.field,
            field_from_scene: body.field_from_scene,
            albedo: body.albedo,
            smoothing: body.smoothing,
        });
        SceneView {
            bodies: bodies.collect(),
            origin: self.camera.origin,
            axes: [self.camera.right, self.camera.up, self.camera.forward],
            pixel: self.camera.pixel,
            center: self.camera.centre,
            height: self.height,
            to_light: self.to_light,
            size: self.scene.size,
            scene_from_world: self.scene_from_world,
            grid_step: self.grid_step,
            ground: self.scene.ground,
        }
    }

    /// Computes the linear light through a position on the picture \[px\], and the surface it comes
    /// from.
    fn shade(&self, place: Vec2) -> (Vec3, u16) {
        let ray = self.camera.ray(place);
        match self.scene.hit(ray, self.camera.pixel) {
            Some((body, t)) => (self.shade_body(ray, body, t), body as u16),
            None => (self.shade_backdrop(ray, place), BACKDROP),
        }
    }

    fn shade_body(&self, ray: Ray, body: usize, t: f32) -> Vec3 {
        let point = ray.at(t);
        let footprint = t * self.camera.pixel;
        let body = &self.scene.bodies[body];
        let normal = body.normal(point, 0.75 * footprint, -ray.direction);
        let lifted = point + (footprint + 0.3 * body.smoothing) * normal;

        let facing = normal.dot(self.to_light).max(0.0);
        let key = if facing > 0.0 {
            self.scene.light(lifted, self.to_light)
        } else {
            0.0
        };
        let sky = self.scene.sky(point, normal);
        let upward = 0.5 + 0.5 * normal.z;

        let key_light = 0.98 * key * facing * Vec3::new(1.0, 0.965, 0.90);
        let sky_light = 0.42 * sky * upward * Vec3::new(0.86, 0.94, 1.06);
        let ground_light = 0.26 * sky * (1.0 - upward) * Vec3::new(1.0, 0.96, 0.92);
        let diffuse = body.albedo * (key_light + sky_light + ground_light);

        let half_way = (self.to_light - ray.direction).normalize_or_zero();
        let gloss = 0.16 * key * normal.dot(half_way).max(0.0).powi(48);
        let grazing = (1.0 + ray.direction.dot(normal)).clamp(0.0, 1.0).powi(4);
        diffuse + Vec3::splat(gloss + 0.10 * sky * grazing * upward)
    }

    /// Computes the backdrop, darkened where the ground is in shadow. The shadow fades into the
    /// backdrop, so that there is no horizon.
    fn shade_backdrop(&self, ray: Ray, place: Vec2) -> Vec3 {
        let backdrop = backdrop(place.y / self.height);
        let Some((point, ground)) = self
            .scene
            .ground
            .and_then(|ground| Some((self.ground_point(ray, ground)?, ground)))
        else {
            return backdrop;
        };
        let size = self.scene.size;
        let fade = 1.0 - smooth_step(0.55 * size, 1.7 * size, point.truncate().length());
        if fade <= 0.0 {
            return backdrop;
        }
        let lifted = point + Vec3::Z * 1e-3 * size;
        let key = self.scene.light(lifted, self.to_light);
        let sky = self.scene.sky(point, Vec3::Z);
        let shadow = (1.0 - 0.50 * (1.0 - key)) * (1.0 - 0.55 * (1.0 - sky));
        let lines = 1.0 - 0.13 * self.grid_line(point, place, ground);
        backdrop * (1.0 + (shadow * lines - 1.0) * fade)
    }

    /// Returns where a ray from above hits the ground.
    fn ground_point(&self, ray: Ray, ground: f32) -> Option<Vec3> {
        let height = ray.origin.z - ground;
        let t = -height / ray.direction.z;
        (height > 0.0 && t > 0.0 && t.is_finite()).then(|| ray.at(t))
    }

    /// Returns how much of the pixel at `place` the lines of the ground's grid cover.
    fn grid_line(&self, point: Vec3, place: Vec2, ground: f32) -> f32 {
        let beside = |offset: Vec2| {
            let neighbour = self.ground_point(self.camera.ray(place + offset), ground)?;
            Some((neighbour - point).truncate())
        };
        let (Some(dx), Some(dy)) = (beside(Vec2::X), beside(Vec2::Y)) else {
            return 0.0;
        };
        // Size of the ground that a pixel covers, along each axis.
        let footprint = (dx * dx + dy * dy).map(f32::sqrt);
        // Grid lines are fixed in the world, not in the scene.
        let at = (point - self.scene_from_world).truncate() / self.grid_step;
        let from_line = (at - at.round()).abs() * self.grid_step;
        let coverage = (Vec2::splat(1.0) - from_line / footprint).clamp(Vec2::ZERO, Vec2::ONE);
        // Far away the lines merge into grey; fade them out before that.
        let room = ((self.grid_step / footprint - 4.0) / 8.0).clamp(Vec2::ZERO, Vec2::ONE);
        let covered = (coverage * room).max_element();
        if covered.is_nan() { 0.0 } else { covered }
    }

    /// Draws a contact as a dot and an arrow. The dot is a ring where a body hides the point.
    fn draw_contact(&self, canvas: &mut Canvas, contact: &ContactMark) {
        let point = contact.point + self.scene_from_world;
        let Some(place) = self.camera.place(point) else {
            return;
        };
        let ray = self.camera.ray(place);
        let depth = (point - ray.origin).length();
        let hit = self.scene.hit(ray, self.camera.pixel);
        let hidden = hit.is_some_and(|(_, t)| t < depth - 0.01 * self.scene.size);
        let dot = (self.height / 120.0).max(2.5);
        let halo = 0.3 * dot;
        let tip = self
            .camera
            .place(point + 0.11 * self.scene.size * contact.normal);
        for (outset, colour) in [(halo, HALO), (0.0, CONTACT)] {
            if let Some(tip) = tip {
                canvas.arrow(place, tip, 0.5 * dot, outset, colour);
            }
            canvas.disc(place, dot + outset, colour, 1.0);
        }
        if hidden {
            canvas.disc(place, 0.55 * dot, HALO, 1.0);
        }
    }
}

/// Returns the linear light of the backdrop, from the top (0) to the bottom (1) of the picture.
fn backdrop(height: f32) -> Vec3 {
    let top = Vec3::new(0.70, 0.775, 0.86);
    let bottom = Vec3::new(0.955, 0.96, 0.965);
    top.lerp(bottom, smooth_step(0.0, 0.85, height))
}

/// Returns 0 below `from`, 1 above `to`, and a smooth transition between.
fn smooth_step(from: f32, to: f32, value: f32) -> f32 {
    let t = ((value - from) / (to - from)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_fields::{TestField, box_distance, sphere, torus_distance};
    use glam::Quat;

    const SMALL: RenderSettings = RenderSettings {
        width: 160,
        height: 120,
        azimuth: 0.7,
        elevation: 0.4,
        zoom: 1.0,
        ground: true,
        frame: None,
    };

    fn body(field: &dyn Field) -> RenderBody<'_> {
        RenderBody {
            field,
            world_from_field: Pose::IDENTITY,
            colour: PALETTE[0],
            smoothing: 0.0,
        }
    }

    /// A sphere at depth D in front of the camera is seen under the angle `asin(r / D)`: in the
    /// middle of the picture it is a disc of radius `r / √(D² − r²)` at distance 1.
    #[test]
    fn a_sphere_covers_the_pixels_of_its_outline_at_every_scale() {
        for radius in [1e-6f32, 1e-2, 1.0, 1e5] {
            let centre = radius * Vec3::new(3.0, -2.0, 5.0);
            let field = sphere(centre, radius, 0.1);
            let settings = RenderSettings {
                width: 320,
                height: 240,
                ground: false,
                ..SMALL
            };
            let view = View::new(&[body(&field)], &settings).unwrap();
            let place = |x: u32, y: u32| Vec2::new(x as f32 + 0.5, y as f32 + 0.5);
            let covered = (0..320 * 240)
                .filter(|i| view.shade(place(i % 320, i / 320)).1 != BACKDROP)
                .count() as f32;
            let depth = (centre + view.scene_from_world - view.camera.origin).length();
            let outline = radius / (depth * depth - radius * radius).sqrt() / view.camera.pixel;
            let expected = std::f32::consts::PI * outline * outline;
            assert!(
                (covered / expected - 1.0).abs() < 0.005,
                "{radius}: {covered} of {expected}"
            );
            // It also fills the frame as intended.
            assert!(
                (outline / (FILL * 120.0) - 1.0).abs() < 0.03,
                "{radius}: outline {outline}"
            );
        }
    }

    #[test]
    fn normals_and_depths_are_those_of_the_sphere_in_any_pose() {
        let field = sphere(Vec3::new(0.2, 0.1, -0.3), 1.0, 0.3);
        let pose = Pose {
            rotation: Quat::from_euler(glam::EulerRot::XYZ, 0.4, 1.1, -2.0),
            translation: Vec3::new(4.0, 5.0, -6.0),
        };
        let turned = RenderBody {
            world_from_field: pose,
            ..body(&field)
        };
        let view = View::new(&[turned], &SMALL).unwrap();
        let centre = pose.transform_point(Vec3::new(0.2, 0.1, -0.3)) + view.scene_from_world;
        let mut hits = 0;
        for i in 0..40 * 30 {
            let ray = view
                .camera
                .ray(Vec2::new((i % 40) as f32, (i / 40) as f32) * 4.0 + 2.0);
            if let Some((_, t)) = view.scene.hit(ray, view.camera.pixel) {
                let point = ray.at(t);
                assert!(((point - centre).length() - 1.0).abs() < 2e-5, "{point}");
                let normal = view.scene.bodies[0].normal(point, 1e-3, Vec3::X);
                assert!((normal - (point - centre)).length() < 2e-3, "{normal}");
                hits += 1;
            }
        }
        assert!(hits > 200, "{hits}");
    }

    #[test]
    fn the_ground_lies_under_the_lowest_body() {
        let ball = sphere(Vec3::ZERO, 1.0, 0.4);
        let cube = TestField {
            bounds: Aabb::from_center(Vec3::ZERO, Vec3::splat(2.0)),
            distance: |p: Vec3| box_distance(p, Vec3::ONE, 0.1),
        };
        let raised = |field, z| RenderBody {
            world_from_field: Pose::from_translation(Vec3::new(z, 0.0, z)),
            ..body(field)
        };
        let view = View::new(&[raised(&ball, 3.0), raised(&cube, 2.5)], &SMALL).unwrap();
        let ground = view.scene.ground.unwrap() - view.scene_from_world.z;
        assert!((ground - 1.5).abs() < 1e-3, "{ground}");
    }

    #[test]
    fn shadows_fall_away_from_the_light() {
        let ball = sphere(Vec3::ZERO, 1.0, 0.05);
        let view = View::new(&[body(&ball)], &SMALL).unwrap();
        let ground = view.scene.ground.unwrap();
        let along = view.to_light / view.to_light.z;
        let under_centre =
            (Vec3::ZERO + view.scene_from_world) - along * (view.scene_from_world.z - ground);
        let dark = view.scene.light(under_centre, view.to_light);
        let lit = view
            .scene
            .light(under_centre + 4.0 * view.to_light, view.to_light);
        assert!(dark < 0.01 && lit > 0.99, "{dark} {lit}");
        // Away from the middle of the shadow the light never decreases again: there are no rings
        // where the field's box ends.
        let side = along.cross(Vec3::Z).normalize();
        let mut last = dark;
        for i in 0..200 {
            let light = view
                .scene
                .light(under_centre + side * (0.015 * i as f32), view.to_light);
            assert!(light >= last - 0.02, "step {i}: {light} after {last}");
            last = light;
        }
        assert!(last > 0.99, "{last}");
    }

    #[test]
    fn a_picture_has_the_same_bytes_on_any_number_of_threads() {
        let torus = TestField {
            bounds: Aabb::from_center(Vec3::ZERO, Vec3::new(1.5, 1.5, 0.5)),
            distance: |p: Vec3| torus_distance(p, 1.0, 0.4),
        };
        let ball = sphere(Vec3::Z * 0.5, 0.7, 0.0);
        let contacts = [ContactMark {
            point: Vec3::Z,
            normal: Vec3::Z,
        }];
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| render(&[body(&torus), body(&ball)], &contacts, &SMALL).unwrap())
        };
        let one = on(1);
        assert_eq!(one, on(2));
        assert_eq!(one, on(3));
    }

    #[test]
    fn a_coarse_interpolated_field_has_no_holes() {
        // Steps in the field, not only in the surface: values too large by the error, and a curved
        // interpolant.
        let field = TestField {
            bounds: Aabb::from_center(Vec3::ZERO, Vec3::splat(1.2)),
            distance: |p: Vec3| p.length() - 1.0 + 0.02 * (40.0 * p.x).sin() * (40.0 * p.y).cos(),
        };
        let view = View::new(&[body(&field)], &SMALL).unwrap();
        let middle = view.camera.place(view.scene_from_world).unwrap();
        for i in 0..1600 {
            let offset = Vec2::new((i % 40) as f32 - 20.0, (i / 40) as f32 - 20.0);
            assert_ne!(view.shade(middle + offset).1, BACKDROP, "{offset}");
        }
    }

    #[test]
    fn scenes_that_cannot_be_framed_are_refused() {
        let boxed = |bounds| TestField {
            bounds,
            distance: |p: Vec3| p.length() - 1.0,
        };
        let inverted = Aabb::new(Vec3::ONE, -Vec3::ONE);
        let huge = Aabb::new(Vec3::splat(f32::MIN), Vec3::splat(f32::MAX));
        let point = Aabb::new(Vec3::ONE, Vec3::ONE);
        for bounds in [
            Aabb::EMPTY,
            Aabb::EVERYTHING,
            inverted,
            huge,
            point,
            Aabb::new(Vec3::NAN, Vec3::ONE),
        ] {
            let error = render(&[body(&boxed(bounds))], &[], &SMALL);
            assert!(
                matches!(error, Err(RenderError::Bounds { body: 0, .. })),
                "{bounds:?}: {error:?}"
            );
        }
        let ball = sphere(Vec3::ZERO, 1.0, 0.1);
        assert_eq!(
            render(&[], &[], &SMALL),
            Err(RenderError::Bodies { count: 0 })
        );
        let lost = [
            Pose {
                rotation: Quat::from_xyzw(0.0, 0.0, 0.0, 0.0),
                translation: Vec3::ZERO,
            },
            Pose::from_translation(Vec3::NAN),
        ];
        for world_from_field in lost {
            let error = render(
                &[
                    body(&ball),
                    RenderBody {
                        world_from_field,
                        ..body(&ball)
                    },
                ],
                &[],
                &SMALL,
            );
            assert_eq!(error, Err(RenderError::Pose { body: 1 }));
        }
        for (azimuth, elevation, zoom) in [
            (f32::NAN, 0.0, 1.0),
            (0.0, 2.0, 1.0),
            (0.0, 0.0, 0.0),
            (0.0, 0.0, f32::INFINITY),
        ] {
            let error = render(
                &[body(&ball)],
                &[],
                &RenderSettings {
                    azimuth,
                    elevation,
                    zoom,
                    ..SMALL
                },
            );
            assert!(
                matches!(error, Err(RenderError::Camera { .. })),
                "{error:?}"
            );
        }
        for (width, height) in [(0, 10), (10, 0), (u32::MAX, 2)] {
            let error = render(
                &[body(&ball)],
                &[],
                &RenderSettings {
                    width,
                    height,
                    ..SMALL
                },
            );
            assert!(matches!(error, Err(RenderError::Size(_))), "{error:?}");
        }
    }

    #[test]
    fn odd_fields_views_and_marks_still_make_a_picture() {
        let bounds = Aabb::from_center(Vec3::ZERO, Vec3::ONE);
        let flat = Aabb::from_center(Vec3::ZERO, Vec3::new(1.0, 1.0, 0.0));
        let values: [fn(Vec3) -> f32; 7] = [
            |_| f32::NAN,
            |_| f32::INFINITY,
            |_| f32::NEG_INFINITY,
            |_| 0.0,
            |_| f32::MIN_POSITIVE,
            |p| if p.x > 0.0 { f32::NAN } else { p.y },
            |p| (1e9 * p.x).sin(),
        ];
        let marks =
            [Vec3::NAN, Vec3::INFINITY, Vec3::ZERO, Vec3::splat(1e30)].map(|point| ContactMark {
                point,
                normal: point,
            });
        for distance in values {
            for bounds in [bounds, flat] {
                for elevation in [
                    -std::f32::consts::FRAC_PI_2,
                    0.0,
                    std::f32::consts::FRAC_PI_2,
                ] {
                    let settings = RenderSettings {
                        width: 40,
                        height: 30,
                        elevation,
                        ..SMALL
                    };
                    let field = TestField { bounds, distance };
                    render(
                        &[RenderBody {
                            smoothing: f32::NAN,
                            ..body(&field)
                        }],
                        &marks,
                        &settings,
                    )
                    .unwrap();
                }
            }
        }
        let ball = sphere(Vec3::ZERO, 1.0, 0.1);
        for (width, height) in [(1, 1), (1, 50), (50, 1)] {
            render(
                &[body(&ball)],
                &marks,
                &RenderSettings {
                    width,
                    height,
                    ..SMALL
                },
            )
            .unwrap();
        }
    }
}
