//! Parallel loops: on all cores with the feature `parallel`, sequential without it. The only module
//! that depends on that feature.
//!
//! Results come in the order of the work, so nothing depends on the number of threads.

/// Runs two independent pieces of work.
#[cfg(feature = "bake")]
pub(crate) fn both<A: Send, B: Send>(
    left: impl FnOnce() -> A + Send,
    right: impl FnOnce() -> B + Send,
) -> (A, B) {
    #[cfg(feature = "parallel")]
    return rayon::join(left, right);
    #[cfg(not(feature = "parallel"))]
    (left(), right())
}

/// Returns `work(0)`, `work(1)`, … `work(count - 1)`.
pub(crate) fn map<R: Send>(count: usize, work: impl Fn(usize) -> R + Sync + Send) -> Vec<R> {
    #[cfg(feature = "parallel")]
    {
        use rayon::prelude::*;
        (0..count).into_par_iter().map(work).collect()
    }
    #[cfg(not(feature = "parallel"))]
    (0..count).map(work).collect()
}

/// Applies `work` to every item and returns the results in order; `size` consecutive items share
/// one scratch value.
pub(crate) fn map_sharing<T: Sync, S: Default, R: Send>(
    items: &[T],
    size: usize,
    work: impl Fn(&T, &mut S) -> R + Sync + Send,
) -> Vec<R> {
    let pieces = map(items.len().div_ceil(size), |piece| {
        let mut shared = S::default();
        let items = items.iter().skip(piece * size).take(size);
        items
            .map(|item| work(item, &mut shared))
            .collect::<Vec<R>>()
    });
    pieces.into_iter().flatten().collect()
}

/// Applies `work` to pieces of `items`, all but the last of length `size`, and passes the index of
/// each piece.
#[cfg(feature = "bake")]
pub(crate) fn map_pieces<T: Send, R: Send>(
    items: &mut [T],
    size: usize,
    work: impl Fn(usize, &mut [T]) -> R + Sync + Send,
) -> Vec<R> {
    #[cfg(feature = "parallel")]
    {
        use rayon::prelude::*;
        let pieces = items.par_chunks_mut(size).enumerate();
        pieces.map(|(index, piece)| work(index, piece)).collect()
    }
    #[cfg(not(feature = "parallel"))]
    {
        let pieces = items.chunks_mut(size).enumerate();
        pieces.map(|(index, piece)| work(index, piece)).collect()
    }
}

/// Returns the number of threads that work at once.
pub(crate) fn count() -> usize {
    #[cfg(feature = "parallel")]
    return rayon::current_num_threads();
    #[cfg(not(feature = "parallel"))]
    1
}

/// Applies `work` to every item, each as a task of its own. Allocates nothing.
pub(crate) fn for_each<T: Send>(items: &mut [T], work: impl Fn(&mut T) + Sync + Send) {
    #[cfg(feature = "parallel")]
    {
        use rayon::prelude::*;
        items.par_iter_mut().with_max_len(1).for_each(work);
    }
    #[cfg(not(feature = "parallel"))]
    items.iter_mut().for_each(work);
}

/// Applies `work` to at most as many pieces of `items` as there are `lanes`, each with the index of
/// its first item and a lane of its own. Allocates nothing.
pub(crate) fn for_each_piece<T: Send, L: Send>(
    items: &mut [T],
    lanes: &mut [L],
    work: impl Fn(usize, &mut [T], &mut L) + Sync + Send,
) {
    let size = items.len().div_ceil(lanes.len().max(1)).max(1);
    #[cfg(feature = "parallel")]
    {
        use rayon::prelude::*;
        let pieces = items.par_chunks_mut(size).zip(lanes.par_iter_mut());
        let pieces = pieces.enumerate().with_max_len(1);
        pieces.for_each(|(index, (piece, lane))| work(index * size, piece, lane));
    }
    #[cfg(not(feature = "parallel"))]
    for (index, (piece, lane)) in items.chunks_mut(size).zip(lanes).enumerate() {
        work(index * size, piece, lane);
    }
}

/// Runs `work` on a pool of `count` threads.
#[cfg(all(test, feature = "parallel", feature = "bake"))]
#[expect(clippy::unwrap_used, reason = "a failed `unwrap` is a failed test")]
pub(crate) fn with<R: Send>(count: usize, work: impl FnOnce() -> R + Send) -> R {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(count).build();
    pool.unwrap().install(work)
}
