//! Every tuned number of this crate in one table, by the module that uses it.
//!
//! Lengths are in metres. Shares are relative to what the line names; a share of "the size" is a
//! share of the diagonal of the smaller body. Each line says what the number decides, and what
//! breaks above and below it. Where it does not say tuned, that is reasoned and not measured.

pub(crate) mod sweep {
    /// Precision of a touch, as a share of the size. Finer costs steps; coarser leaves bodies
    /// hovering.
    pub(crate) const PRECISION: f32 = 2e-3;

    /// Upper limit of that precision, as a share of the thinner body's thickness. Above, a thin
    /// wall is nearly passed before its touch is found; below, sweeps of thin bodies take more
    /// steps.
    pub(crate) const THIN_SHARE: f32 = 0.05;

    /// Share of the thinner body's thickness: a sweep that runs out of boxes this close to the
    /// touch does not count as given up, because the contacts of the next step cover the remaining
    /// gap. Balls on the rim of a pipe end there. Above, bodies pass that are farther apart than
    /// the next contacts reach; below, those balls count as given up.
    pub(crate) const ENOUGH_SHARE: f32 = 0.1;

    /// Share of the thinner body's thickness by which bodies in contact may go deeper within a
    /// step. Above, a body comes out on the wrong side of a wall before the solver has pushed it
    /// back; below, bodies at rest are stopped by what they rest on, and keep the speed that
    /// gravity added.
    pub(crate) const DEEPER_SHARE: f32 = 0.25;

    /// Depth beyond which bodies stop where they are, as a share of the thinner body's thickness.
    /// Above, the nearest way out may be through the wall; below, bodies are held that the solver
    /// could push out.
    pub(crate) const DEEPEST_SHARE: f32 = 0.5;

    /// Share of the thinner body's thickness within which bodies that begin apart count as in
    /// contact: the solver already has them, and they may go as deep as bodies in contact. Above,
    /// bodies that the solver does not have yet may enter a wall; below, bodies that hover over a
    /// floor are stopped, which adds energy.
    pub(crate) const NEAR_SHARE: f32 = 0.02;

    /// Lower limit of that distance, as a share of the size: about as far as Rapier requests
    /// contacts. Above and below as [`NEAR_SHARE`], for bodies without thin walls.
    pub(crate) const NEAR_SIZE_SHARE: f32 = 0.004;

    /// Distance within which bodies count as in contact if their shells are fine enough, in
    /// covering radii. From farther away, a shell that stays beyond one covering radius proves a
    /// time. Above, touches at speed count as contacts that exist; below, no time is proven for
    /// bodies that begin between the two distances.
    pub(crate) const NEAR_COVERED: f32 = 2.0;

    /// Share of the covering radius by which a touching point may be off. A body that comes as near
    /// without touching is stopped. Less costs more samples; more stops bodies early, which adds
    /// energy.
    pub(crate) const TOUCH_SHARE: f32 = 0.1;

    /// A shell is fine enough for walls of at least this share of its covering radius. A guess:
    /// points of a bowl's shell are about as far apart as its wall is thick. Above, bowls are swept
    /// by casts, which take milliseconds; below, a wall passes between the points of the other
    /// shell.
    pub(crate) const FINE_SHARE: f32 = 0.5;

    /// Minimum effective thickness of a flat body inside a thick one, as a share of its diagonal: a
    /// plate that is pushed into a floor comes out again. With less, plates are stopped by the
    /// floor that they lie on. With more, plates are pushed far into a floor before they are
    /// stopped.
    pub(crate) const SOLID_SHARE: f32 = 0.05;

    /// Share of the motion that is as good as none, yet more than the 0 that Rapier treats as no
    /// hit. Above, bodies that are held creep on; below, the time rounds to 0.
    pub(crate) const AT_ONCE: f32 = 1e-4;

    /// Maximum number of states that a sweep may examine: some milliseconds. With fewer, more
    /// sweeps are given up, which is counted; with more, a hard step takes longer.
    pub(crate) const MAX_STEPS: u32 = 1_000;
    /// Maximum number of boxes that a sweep may examine: some milliseconds. Fewer and more as
    /// [`MAX_STEPS`].
    pub(crate) const MAX_BOXES: u64 = 1 << 18;

    /// Number of intervals of a motion at whose ends a turning body is boxed; the box is grown by
    /// what it bulges in between. With fewer, spinning bodies are tested against more triangles;
    /// with more, building the box takes longer than it saves.
    pub(crate) const SWEPT_POSES: u32 = 8;
}

pub(crate) mod query {
    /// Precision of separations, as a share of the size. Coarser shows in the closest points that a
    /// user reads; finer costs boxes.
    pub(crate) const PRECISION: f32 = 1e-4;
}

pub(crate) mod meet {
    /// Share of the size within which one contact point may represent others. Tuned: with twice as
    /// much, a heap of tori takes a tenth less time, and a bunny rests 2.4 mm deep rather than 1.6.
    /// With less, steps take longer.
    pub(crate) const DETAIL_SHARE: f32 = 0.02;
}

pub(crate) mod memory {
    /// A pair that moved by less than this share of the size keeps its contact points, as
    /// [`crate::configure`] lets Rapier do. Above, concave bodies sink into each other's bumps;
    /// below, bodies at rest are searched again at every step.
    pub(crate) const KEEP_SHARE: f32 = 0.002;

    /// A pair that moved by less than this share of the size since its last full contact search has
    /// no new contacts. For a body of one metre this is half of Rapier's prediction distance.
    /// Above, new contacts come late and bodies sink in; below, pairs that hardly move are searched
    /// in full at every step.
    pub(crate) const REVISIT_SHARE: f32 = 0.01;

    /// Share of the last search distance by which a pair may approach before contacts are searched
    /// again. Above, a pair may touch before it is searched again; below, pairs that are apart are
    /// searched more often.
    pub(crate) const NEARER_SHARE: f32 = 0.5;

    /// A pair in contact that moves by more than this share of the thinner body's thickness in a
    /// step may be through it after a few. Its further contacts are predicted as far as it moves.
    /// First contacts always are. Above, thin walls are passed between two steps; below, contacts
    /// are predicted that never close, which costs time.
    pub(crate) const FORESEEN_SHARE: f32 = 0.25;

    /// Factor by which the next step may be faster than the last. Below 1, accelerating bodies
    /// outrun their prediction; far above, contacts are predicted that never close.
    pub(crate) const FASTER: f32 = 1.25;

    /// Share of the size below which the thinner body counts as thin. First contacts of a new pair
    /// with a thin body are predicted as far as its thickness. Above, compact bodies get early
    /// contacts and bounce off the air; below, plates meet unannounced.
    pub(crate) const THIN_SHARE: f32 = 0.1;

    /// Maximum prediction distance, as a share of the size. Above, fast bodies collect contacts
    /// from all around; below, they are not seen in time.
    pub(crate) const FARTHEST_SHARE: f32 = 0.25;
}

pub(crate) mod manifolds {
    /// Share of the size within which a contact is the same as in the last step, as seen from
    /// either body. A guess: about what a body rolls in a step. Above, impulses go to another
    /// contact; below, rolling bodies lose theirs.
    pub(crate) const SAME_SHARE: f32 = 0.03;

    /// Share of the size within which two contacts are merged if the cosine between their normals
    /// exceeds [`ALIKE`]. Above, corners that lie close lose one of two; below, one place carries
    /// twice.
    pub(crate) const TWIN_SHARE: f32 = 0.002;
    /// Cosine between the normals above which contacts within [`TWIN_SHARE`] are merged. Above,
    /// twins are kept; below, the two walls of a groove become one.
    pub(crate) const ALIKE: f32 = 0.99;

    /// Contacts whose normals differ by less than this angle share a manifold and its normal
    /// \[rad\]. The lead angle of a thread is three degrees: a nut whose normals are off by that
    /// much does not turn. Above, threads jam; below, each contact is a manifold of its own, which
    /// costs the solver time.
    pub(crate) const ONE_NORMAL: f32 = 0.02;

    /// Maximum number of contacts that are settled: a guess between time and spread, not tuned.
    /// With fewer, corners of large faces are lost; with more, each step takes longer.
    pub(crate) const MOST_SETTLED: usize = 32;

    /// Share of the size within which a contact can be on the flank of a deeper contact's foot;
    /// also see [`FOOT_COSINE`] and [`STEEP`]. Once settled, a contact on a flank would arrive
    /// where the other does. These three are guesses with which the tests of resting bodies pass.
    pub(crate) const FOOT_SHARE: f32 = 0.1;
    /// Minimum cosine between the normals of a foot and of a contact on its flank. Above, nearly
    /// every contact is settled; below, opposite walls count as one foot.
    pub(crate) const FOOT_COSINE: f32 = 0.8;
    /// Minimum slope between a foot and a contact on its flank. A flatter slope loses corners of
    /// boxes that are about to lie flat; a steeper one settles most of a ring's tube for nothing.
    pub(crate) const STEEP: f32 = 0.05;

    /// Maximum number of feet for which flanks are searched: a flat face has no flanks, only feet.
    /// With fewer, flanks are settled in crowds; with more, flat faces take quadratic time.
    pub(crate) const MOST_FEET: usize = 128;

    /// Share of the size within which a contact lies on the line between two others. A guess.
    /// Above, contacts of an edge and its neighbour face mix; below, elastic boxes gain energy
    /// along their edges.
    pub(crate) const BETWEEN_SHARE: f32 = 0.01;

    /// Share of the reach: a contact that is less deep than the deepest by this much counts for
    /// half. Tuned: with the whole reach, a supporting foot loses every third step to a place half
    /// a millimetre above the floor that reaches farther, and a knot or a bunny never stops
    /// rocking.
    pub(crate) const NEAR_SHARE: f32 = 0.1;

    /// Bits of a feature id that hold the contact's number. The two highest bits are Rapier's kind
    /// of feature.
    pub(crate) const ID_BITS: u32 = (1 << 30) - 1;

    /// Number of a contact that has none yet.
    pub(crate) const NO_ID: u32 = ID_BITS;
}

pub(crate) mod parry_shape {
    /// Distance at which a point counts as on the surface, as a share of the body's size. Above,
    /// rays end before the surface; below, `f32` never arrives.
    pub(crate) const ON_SURFACE: f32 = 1e-5;

    /// Maximum number of steps along a ray or towards a surface. Each at least halves the remaining
    /// distance where the field is an exact distance. With fewer, grazing rays miss; with more, a
    /// ray past a bound such as CSG takes longer.
    pub(crate) const MOST_STEPS: u32 = 512;

    /// Share of a body's size below which it is thin. Above, compact bodies get enlarged boxes too,
    /// and the broad phase more pairs; below, thin ones are detected late.
    pub(crate) const THIN: f32 = 0.1;

    /// Margin of the AABB of a thin body, as a share of its size. Two such bodies of one metre are
    /// detected in time at 9 m/s and 60 steps per second.
    pub(crate) const ROOM: f32 = 0.05;
}

pub(crate) mod world {
    use rapier::math::Real;

    /// Maximum number of cuts per step; the rest of the step is then made in one piece. With fewer,
    /// bodies of a fast crowd pass through each other in that rest; with more, a jam takes longer.
    pub const MOST_CUTS: u32 = 16;

    /// Substeps shorter than this share of the step are skipped: they move nothing. Above, bodies
    /// lose that time; below, substeps are spent on nothing.
    pub(crate) const LEAST_SHARE: Real = 1e-3;

    /// Maximum number of rounds in which bodies are held back after a substep. Several are needed
    /// because a body that is held back may be in the way of another. With fewer, bodies of a heap
    /// are left in each other; with more, a stuck heap takes longer.
    pub(crate) const MOST_ROUNDS: u32 = 8;

    /// A pair that moved by less than this share of the size keeps its contacts. Tuned on a heap of
    /// 100 tori: without recycling, a step at rest takes 1.7 times as long. At 0.005 it takes half
    /// as long, and at 0.01 bodies are 3.2 mm deep in each other rather than 1.3. At 0.05, Rapier's
    /// own value, concave bodies sink into each other's bumps.
    pub(crate) const RECYCLE_SHARE: Real = 0.002;
}

pub(crate) mod shape {
    /// Minimum thickness of a body, as a share of its size. Above, foils count as thicker than they
    /// are and are passed; below, sheets of zero thickness are swept to no end.
    pub(crate) const LEAST_THICKNESS: f32 = 1e-4;
}

pub(crate) mod partner {
    /// Maximum number of cached solids. In worlds with more, the rest is rebuilt for each pair.
    /// With more, unused solids take memory; with fewer, worlds with many different solids rebuild
    /// them at each step.
    pub(crate) const MOST_SOLIDS: usize = 4096;
}
