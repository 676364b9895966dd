//! Prints docs/images/manifold.svg, or with `--table` the numbers.
#![allow(clippy::print_stdout, reason = "the picture is the output")]

use touchfield_conformance::patches::Kind;
use touchfield_conformance::wrench_loss::{NUMBERS, Way, compare, picture};

fn main() {
    if !std::env::args().any(|argument| argument == "--table") {
        print!("{}", picture(1000));
        return;
    }
    for friction in [0.0, 0.5] {
        let comparison = compare(1000, friction);
        for (kind, of_kind) in Kind::ALL.iter().zip(&comparison.losses) {
            println!(
                "\n{}, friction {friction}: mean / worst / cone [%]",
                kind.name()
            );
            for (way, losses) in Way::ALL.iter().zip(of_kind) {
                println!("{}", way.name());
                for (number, loss) in NUMBERS.iter().zip(losses) {
                    let percent = |x: f64| 100.0 * x;
                    println!(
                        "  {number:3} {:8.3} {:8.3} {:8.3}",
                        percent(loss.mean),
                        percent(loss.worst),
                        percent(loss.cone)
                    );
                }
            }
        }
    }
}
