//! Tables 1 to 4 of document 002 beside ours: fields, octrees, segments and shells that move.

mod falling;
mod swept_shell;
pub(crate) mod table1;
pub(crate) mod table2;
pub(crate) mod table3;
pub(crate) mod table4;
