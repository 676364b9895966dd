//! Every tuned number of this crate in one table, by the module that uses it.
//!
//! Lengths are in metres, shares are of what the line names; a share of "the size" is one of the
//! diagonal of the smaller body. Each says what it decides; most say what breaks above and below.

pub(crate) mod sweep {
    /// Share of the smaller body to which a touch is found: finer costs steps, coarser leaves bodies hovering.
    pub(crate) const PRECISION: f32 = 2e-3;

    /// Share of the thinner body's thickness to which it is found at least.
    pub(crate) const THIN_SHARE: f32 = 0.05;

    /// Share of it before the touch at which a sweep that runs out of boxes was not given up: the contacts of the next step see what is left. Balls on the rim of a pipe end there.
    pub(crate) const ENOUGH_SHARE: f32 = 0.1;

    /// Share of the thinner body's thickness by which bodies in contact may go deeper within a step.
    pub(crate) const DEEPER_SHARE: f32 = 0.25;

    /// Share of it beyond which they stop where they are.
    pub(crate) const DEEPEST_SHARE: f32 = 0.5;

    /// Share of it within which bodies that begin apart count as in contact: the solver knows of it, and they may go as deep.
    pub(crate) const NEAR_SHARE: f32 = 0.02;

    /// Share of the smaller body within which they do at least: about as far as Rapier asks for contacts.
    pub(crate) const NEAR_SIZE_SHARE: f32 = 0.004;

    /// Covering radii within which they count as in contact, where shells are fine enough to be asked: from farther away a shell that stays beyond one of them proves a time.
    pub(crate) const NEAR_COVERED: f32 = 2.0;

    /// Share of the covering radius by which a point that touches may be off: a body that comes as near
    /// without touching is stopped. Less costs looks; more stops bodies early, which adds energy.
    pub(crate) const TOUCH_SHARE: f32 = 0.1;

    /// A shell is fine enough for walls of this share of its covering radius. A guess: points of a bowl's shell are about as far apart as its wall is thick.
    pub(crate) const FINE_SHARE: f32 = 0.5;

    /// Share of its size that a flat body counts as thick, where it gets into a thick one: a plate that is
    /// pushed into a floor comes out again. Less, and plates are stopped by the floor that they lie on.
    pub(crate) const SOLID_SHARE: f32 = 0.05;

    /// Share of the motion that is as good as none, and more than the nothing that Rapier takes for no hit.
    pub(crate) const AT_ONCE: f32 = 1e-4;

    /// States and boxes that a sweep may look at: some milliseconds.
    pub(crate) const MAX_STEPS: u32 = 1_000;
    /// As the line above.
    pub(crate) const MAX_BOXES: u64 = 1 << 18;
}

pub(crate) mod memory {
    /// A pair that moved by less than this share of its size keeps the places of its contacts, as [`crate::configure`] lets Rapier do.
    pub(crate) const KEEP_SHARE: f32 = 0.002;

    /// A pair that moved by less than this share since its contacts were looked for has no others: of a body of a metre it is half of how far contacts are foreseen.
    pub(crate) const REVISIT_SHARE: f32 = 0.01;

    /// Share of what contacts were looked for by which a pair may come nearer before they are looked for again.
    pub(crate) const NEARER_SHARE: f32 = 0.5;

    /// A pair in contact that moves by more than this share of the thinner body's thickness in a step may be through it after a few: further contacts are foreseen as far as it moves. First ones always are.
    pub(crate) const FORESEEN_SHARE: f32 = 0.25;

    /// The next step may be faster than the last by this much.
    pub(crate) const FASTER: f32 = 1.25;

    /// Share of its size below which the thinner body is thin: contacts of a pair that was never seen before are foreseen as far as that is thick.
    pub(crate) const THIN_SHARE: f32 = 0.1;

    /// Contacts are foreseen no farther than this share of its size.
    pub(crate) const FARTHEST_SHARE: f32 = 0.25;
}

pub(crate) mod manifolds {
    /// A share of the smaller body within which a contact is the same as before, as seen from one of the two: a guess, about what
    /// a body rolls in a step.
    pub(crate) const SAME_SHARE: f32 = 0.03;

    /// Contacts nearer to each other than this share, with normals whose cosine is more than [`ALIKE`], are one.
    pub(crate) const TWIN_SHARE: f32 = 0.002;
    /// As the line above.
    pub(crate) const ALIKE: f32 = 0.99;

    /// Contacts of one manifold have its normal: those whose own is off by more than this have another \[rad\]. The lead of a thread is three degrees: a nut whose normals are off by as
    /// much does not turn.
    pub(crate) const ONE_NORMAL: f32 = 0.02;

    /// Contacts that are settled, at most: a guess between time and spread, not tuned.
    pub(crate) const MOST_SETTLED: usize = 32;

    /// A contact is on the flank of another's foot if it is nearer to it than this share of the smaller body, its normal no farther off than by this cosine, and
    /// it is higher by more than this slope: settled, it would arrive where the other does. Guesses that the tests of rest pass with: a flatter slope loses corners of boxes that are about to
    /// lie flat, a steeper one settles most of a ring's tube for nothing.
    pub(crate) const FOOT_SHARE: f32 = 0.1;
    /// As the line above.
    pub(crate) const FOOT_COSINE: f32 = 0.8;
    /// As the line above.
    pub(crate) const STEEP: f32 = 0.05;

    /// Feet among which flanks are told apart: a flat face has none, and nothing but feet.
    pub(crate) const MOST_FEET: usize = 128;

    /// Share of the smaller body within which a contact is on the line between two others. A guess.
    pub(crate) const BETWEEN_SHARE: f32 = 0.01;

    /// Share of the reach by which a contact may be less deep than the deepest and still count for half. Tuned: with all of it, a foot that carries gives way to a place
    /// half a millimetre above the floor that reaches farther, every third step, and a knot or a bunny never stops rocking.
    pub(crate) const NEAR_SHARE: f32 = 0.1;

    /// The bits of a feature that are its number.
    pub(crate) const ID_BITS: u32 = (1 << 30) - 1;

    /// Of a contact that has no name yet.
    pub(crate) const NO_ID: u32 = ID_BITS;
}

pub(crate) mod parry_shape {
    /// Share of the body's size at which a point lies on its surface.
    pub(crate) const ON_SURFACE: f32 = 1e-5;

    /// Steps along a ray or towards a surface; each at least halves what is left where the field is a distance.
    pub(crate) const MOST_STEPS: u32 = 512;

    /// Share of its size below which a body is thin.
    pub(crate) const THIN: f32 = 0.1;

    /// Share of its size by which the box of a thin body is wider: of a metre, two of them are seen coming at 9 m/s and 60 steps a second.
    pub(crate) const ROOM: f32 = 0.05;
}

pub(crate) mod world {
    use rapier::math::Real;

    /// Parts of a step shorter than this share of it are left out: they move nothing.
    pub(crate) const LEAST_SHARE: Real = 1e-3;

    /// How often bodies are held back after a part of a step, at most: each time sooner, for one that is held back may be in the way of another.
    pub(crate) const MOST_ROUNDS: u32 = 8;

    /// A pair that moved by less than this share of its size keeps its contacts. Tuned on a heap of 100 tori: without, a step at rest takes 1.7 times as long; at 0.005 half, and at 0.01
    /// bodies are 3.2 mm deep in each other rather than 1.3. At 0.05, Rapier's own, concave bodies sink into each other's bumps.
    pub(crate) const RECYCLE_SHARE: Real = 0.002;
}

pub(crate) mod shape {
    /// Share of its size that a body is thick at least.
    pub(crate) const LEAST_THICKNESS: f32 = 1e-4;

    /// Cells along the longest side from which a field's mass is summed: to about a thousandth.
    pub(crate) const MASS_CELLS: u32 = 64;
}

pub(crate) mod partner {
    /// Solids that are remembered; those of worlds with more are made anew for each pair.
    pub(crate) const MOST_SOLIDS: usize = 4096;
}
