# What scripts/check, scripts/test and scripts/soak share; they source it. A step has a name, shows
# and keeps its output, and says how long it took; the first that fails ends the script.

cd "$(dirname "${BASH_SOURCE[0]}")/.."
script=scripts/$(basename "$0")
tools=$PWD/target/tools
logs=$PWD/target/$(basename "$0")-logs
export script tools logs
export PATH="$tools/bin:$PATH"
export CARGO_TERM_COLOR=${CARGO_TERM_COLOR:-auto}
# On a build server random tests take the same cases every time: what fails there fails because of
# the change. Elsewhere they look for new ones.
if [[ -n ${CI:-} ]]; then
    export PROPTEST_RNG_SEED=${PROPTEST_RNG_SEED:-1}
fi
if [[ -z ${TOUCHFIELD_MESHES:-} && -d ../shared/meshes ]]; then
    TOUCHFIELD_MESHES=$(cd ../shared/meshes && pwd)
    export TOUCHFIELD_MESHES
fi
rm -rf "$logs"
mkdir -p "$logs"

passed=0
failed=0
skipped=()

finish() {
    local status=$?
    for reason in ${skipped[@]+"${skipped[@]}"}; do
        echo "skipped: $reason"
    done
    if ((status != 0)); then
        # A step that is no test, such as a lint, counts as one failure.
        ((failed > 0)) || failed=1
        echo "FAILED in step: ${step_name:-start}"
    fi
    echo "total time: ${SECONDS} s"
    echo "$passed passed, $failed failed"
}
trap finish EXIT
# A run that is ended from outside has failed: without these, the last line would count what had
# passed until then and no failure.
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# step NAME COMMAND...: runs it, shows and keeps its output, says how long it took. In a shell of
# its own: bash ignores `set -e` in a function whose status is looked at.
step() {
    step_name=$1
    shift
    local begin=$SECONDS status=0
    step_log=$logs/${step_name// /-}.log
    echo "==> $step_name: $*"
    bash -euo pipefail -c '"$@"' step "$@" 2>&1 | tee "$step_log" || status=${PIPESTATUS[0]}
    if ((status == 0)); then
        echo "<== $step_name: ok, $((SECONDS - begin)) s"
    else
        echo "<== $step_name: FAILED with status $status, $((SECONDS - begin)) s; see ${step_log#"$PWD"/}"
    fi
    return "$status"
}

# sum_of WORD: adds up the numbers before WORD in standard input; 0 where there are none.
sum_of() {
    { grep -oE "[0-9]+ $1" || true; } | awk '{ n += $1 } END { print n + 0 }'
}

# Adds the counts in the log of the last step: `N passed` and `N failed`, as both nextest and cargo
# test write them.
count() {
    local lines
    lines=$(sed 's/\x1b\[[0-9;]*m//g' "$step_log" | grep -E '^ *Summary \[|^test result:' || true)
    passed=$((passed + $(sum_of passed <<<"$lines")))
    failed=$((failed + $(sum_of failed <<<"$lines")))
}

# count_step NAME COMMAND...: a step that runs tests; the step itself counts as nothing.
count_step() {
    local status=0
    step "$@" || status=$?
    count
    return "$status"
}

# A step that is one check: counts as one test passed.
check_step() {
    step "$@"
    passed=$((passed + 1))
}

# need COMMAND PACKAGE: from Debian if we may, else a plain word.
need() {
    command -v "$1" >/dev/null && return
    if [[ $(id -u) == 0 ]] && command -v apt-get >/dev/null; then
        (apt-get update && apt-get install --yes --no-install-recommends "$2") >/dev/null
    else
        echo "$script needs $1 (Debian: apt-get install $2)"
        return 1
    fi
}

toolchain() {
    command -v cargo >/dev/null || { echo "$script needs Rust: https://rustup.rs"; return 1; }
    need cc gcc
    local wanted found component
    wanted=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
    found=$(rustc --version | awk '{ print $2 }')
    if [[ $(printf '%s\n' "$wanted" "$found" | sort -V | head -1) != "$wanted" ]]; then
        echo "rustc $found is too old; Touchfield needs $wanted (rustup update)"
        return 1
    fi
    for component in fmt clippy; do
        cargo "$component" --version >/dev/null 2>&1 || rustup component add "${component/fmt/rustfmt}" || {
            echo "cargo $component is missing (rustup component add ${component/fmt/rustfmt})"
            return 1
        }
    done
    echo "rustc $found, $(nproc) cores, models: ${TOUCHFIELD_MESHES:-none}"
}

# tool NAME: a cargo subcommand, installed unless it is there. Unoptimised: it builds in half the
# time and runs for seconds.
tool() {
    cargo "$1" --version 2>/dev/null || cargo install "cargo-$1" --locked --debug --root "$tools"
}

# run_tests ARGUMENTS...: by nextest where it is there.
run_tests() {
    if cargo nextest --version >/dev/null 2>&1; then
        cargo nextest run --no-fail-fast --no-tests=pass "$@"
    else
        cargo test --no-fail-fast "$@"
    fi
}

# run_example NAME: with the crate that names it.
run_example() {
    local package
    package=$(basename "$(dirname "$(grep -l "\"$1\"" crates/*/Cargo.toml)")")
    echo "--- $1"
    cargo run --quiet -p "$package" --example "$1"
}

# With nightly the address sanitizer looks on; stable does without it.
fuzz_build() {
    need c++ g++
    fuzz_cargo build
}

fuzz_cargo() {
    if cargo +nightly --version >/dev/null 2>&1; then
        cargo +nightly fuzz "$@"
    else
        RUSTC_BOOTSTRAP=1 cargo fuzz "$@" --sanitizer none
    fi
}

# fuzz_one TARGET, for $fuzz_seconds: its corpus grows from run to run, its seeds are ours. 64 MiB
# and 100 ms are held by tests; here the limits are loose because the sanitizer takes its share.
fuzz_one() {
    local target=$1 binary
    binary=$(find fuzz/target -path "*/release/$target" -type f | head -1)
    mkdir -p "fuzz/corpus/$target" "fuzz/artifacts/$target"
    local log=$logs/fuzz-$target.log
    if "$binary" -max_total_time="$fuzz_seconds" -timeout=10 -rss_limit_mb=1024 -max_len=4096 \
        -artifact_prefix="fuzz/artifacts/$target/" "fuzz/corpus/$target" "fuzz/seeds/$target" >"$log" 2>&1; then
        echo "$target: $(grep -oE '^Done [0-9]+ runs' "$log"), no fault"
    else
        tail -40 "$log"
        echo "$target: FAULT; the input is in fuzz/artifacts/$target"
        return 1
    fi
}

# As many targets at a time as there are cores.
fuzz_all() {
    cargo fuzz list | xargs -n 1 -P "$(nproc)" bash -c 'fuzz_one "$0"'
}

export -f need toolchain tool run_tests run_example fuzz_build fuzz_cargo fuzz_one fuzz_all
