//! The narrow phase of a pipeline on a device: poses go up, contacts come down.
//!
//! Input: the pairs of a step of [`Pipeline`](touchfield::pipeline::Pipeline).
//! Output: their contacts, or as many of each pair as are kept.
//! Cost: shapes are uploaded when they are first seen; then one submission per step.
//! Not for: pairs without a shell or without a form on the device, which are left to the CPU, as
//! are queries with a budget, a penalty wrench or merged points.
//!
//! [`ContactMethod::PointSamples`] and [`ContactMethod::ShellTraversal`] run as they are named, and
//! both find every shell point whose stored distance is at most `max_separation`; the traversal of
//! the CPU may leave out those that its proof puts beyond. With [`ContactMethod::Auto`] a pair in
//! contact is answered here, as the CPU would test the same shell; a pair without contacts is left
//! to the CPU, which then tries other ways, and so are pairs of convex bodies.

use touchfield::narrow::{CollideSettings, ContactMethod};
use touchfield::pipeline::{BackendAnswer, BackendAnswers, BackendPair, NarrowBackend};
use touchfield::shape::Shape;

use crate::device::Gpu;
use crate::error::GpuError;
use crate::layout::{NoGpuForm, Packed};
use crate::pairs::DevicePair;
use crate::shells::{ShellContacts, ShellQuery, ShellSearch, ShellSettings};
use crate::upload::Shapes;

/// A narrow phase on a device. Use one for each pipeline.
#[derive(Debug)]
pub struct GpuBackend {
    gpu: Gpu,
    /// Keeps at most this many contacts of each pair; `None` keeps all.
    keep: Option<u32>,
    shapes: Option<Shapes>,
    /// All shapes that were seen.
    known: Vec<Known>,
    query: ShellQuery,
    asked: Vec<DevicePair>,
    last: ShellContacts,
}

/// A shape that was seen.
#[derive(Debug)]
struct Known {
    /// Holds the shape, so that its address is not used for another one.
    shape: Shape,
    key: Key,
    /// Number on the device, or why there is none.
    place: Result<usize, NoGpuForm>,
}

/// Addresses of the field and the shell of a shape, which identify it.
type Key = [usize; 2];

fn key(shape: &Shape) -> Key {
    let field = std::ptr::from_ref(shape.field()).cast::<()>() as usize;
    let shell = shape
        .shell()
        .map_or(0, |shell| std::ptr::from_ref(shell) as usize);
    [field, shell]
}

impl GpuBackend {
    /// Creates a narrow phase that finds all contacts.
    pub fn new(gpu: &Gpu) -> GpuBackend {
        GpuBackend {
            gpu: gpu.clone(),
            keep: None,
            shapes: None,
            known: Vec::new(),
            query: ShellQuery::default(),
            asked: Vec::new(),
            last: ShellContacts::default(),
        }
    }

    /// Keeps at most `keep` contacts of each pair, 1 to 16, chosen for spread on the device. Fewer
    /// come down, and the pipeline matches these from step to step.
    pub fn keeping(self, keep: u32) -> GpuBackend {
        GpuBackend {
            keep: Some(keep),
            ..self
        }
    }

    /// Returns what the device found in the last step, in the order of the pairs that it was given.
    pub fn last(&self) -> &ShellContacts {
        &self.last
    }

    /// Returns the shapes that have no form on the device, and why.
    pub fn left_out(&self) -> impl Iterator<Item = (&Shape, &NoGpuForm)> {
        let known = self.known.iter();
        known.filter_map(|known| Some((&known.shape, known.place.as_ref().err()?)))
    }

    /// Returns the place of a shape among the known ones, and whether it is new.
    fn know(&mut self, shape: &Shape) -> (usize, bool) {
        let key = key(shape);
        match self.known.iter().position(|known| known.key == key) {
            Some(place) => (place, false),
            None => {
                self.known.push(Known {
                    shape: shape.clone(),
                    key,
                    place: Ok(0),
                });
                (self.known.len() - 1, true)
            }
        }
    }

    /// Uploads all known shapes that have a form on the device.
    fn upload(&mut self) -> Result<(), GpuError> {
        self.shapes = None;
        let mut forms = Vec::new();
        for known in &mut self.known {
            known.place = Packed::new(&known.shape).map(|form| {
                forms.push(form);
                forms.len() - 1
            });
        }
        self.shapes = Some(Shapes::from_packed(&self.gpu, forms)?);
        Ok(())
    }
}

impl NarrowBackend for GpuBackend {
    type Error = GpuError;

    fn answer(
        &mut self,
        pairs: &[BackendPair<'_>],
        settings: &CollideSettings,
        out: &mut BackendAnswers,
    ) -> Result<(), GpuError> {
        self.gpu.check()?;
        self.last = ShellContacts::default();
        out.pairs.resize(pairs.len(), BackendAnswer::Left);
        let search = match settings.method {
            ContactMethod::Auto | ContactMethod::ShellTraversal => ShellSearch::Spheres,
            ContactMethod::PointSamples => ShellSearch::Points,
            _ => return Ok(()),
        };
        let is_plain =
            settings.detail == 0.0 && settings.budget.is_none() && settings.wrench.is_none();
        if !is_plain {
            return Ok(());
        }
        // Every shape is uploaded once.
        let mut any_new = false;
        let mut places = Vec::with_capacity(pairs.len());
        for BackendPair { pair, .. } in pairs {
            let ((a, a_is_new), (b, b_is_new)) = (self.know(pair.a), self.know(pair.b));
            any_new |= a_is_new || b_is_new;
            places.push([a, b]);
        }
        if any_new || self.shapes.is_none() {
            self.upload()?;
        }
        let Some(shapes) = &self.shapes else {
            return Ok(());
        };
        // Which pairs the device answers.
        let is_auto = settings.method == ContactMethod::Auto;
        self.asked.clear();
        let mut taken = Vec::with_capacity(pairs.len());
        for (index, (BackendPair { pair, .. }, &[a, b])) in pairs.iter().zip(&places).enumerate() {
            let places = (&self.known[a].place, &self.known[b].place);
            let has_shell = pair.a.shell().is_some() || pair.b.shell().is_some();
            let are_convex = pair.a.as_convex().is_some() && pair.b.as_convex().is_some();
            if let (&Ok(a), &Ok(b)) = places
                && has_shell
                && !(is_auto && are_convex)
            {
                self.asked.push(DevicePair {
                    a,
                    b,
                    a_from_b: pair.a_from_b,
                });
                taken.push(index);
            }
        }
        let shell_settings = ShellSettings {
            max_separation: settings.max_separation,
            search,
            keep: self.keep,
            timed: false,
        };
        self.last = self.query.contacts(shapes, &self.asked, &shell_settings)?;
        for (place, &index) in taken.iter().enumerate() {
            let contacts = self.last.found.of(place);
            if is_auto && contacts.is_empty() {
                continue;
            }
            out.contacts.extend_from_slice(contacts);
            let separations = contacts.iter().map(|contact| contact.separation);
            out.pairs[index] = BackendAnswer::Answered {
                count: contacts.len(),
                method: match search {
                    ShellSearch::Points => ContactMethod::PointSamples,
                    ShellSearch::Spheres => ContactMethod::ShellTraversal,
                },
                distance: separations.fold(f32::INFINITY, f32::min),
            };
        }
        Ok(())
    }
}
