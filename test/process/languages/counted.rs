// SPDX-License-Identifier: GPL-2.0-only

// A program that knows what it does: for each line of its input, a number N, each of four threads calls
// work() N times, and fall(), which panics for each tenth. Prints what came of it.
use std::io::BufRead;

#[inline(never)]
#[no_mangle]
fn work(n: u64) -> Result<u64, String> {
    if n % 7 == 0 {
        Err(format!("seven times {}", n / 7))
    } else {
        Ok(n * 3)
    }
}

#[inline(never)]
#[no_mangle]
fn fall(n: u64) -> u64 {
    if n % 10 == 0 {
        panic!("ten");
    }
    n
}

fn all(times: u64) -> u64 {
    let mut sum = 0;
    for i in 0..times {
        sum += work(i).unwrap_or(1);
        sum += std::panic::catch_unwind(|| fall(i)).unwrap_or(2);
    }
    sum
}

fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    println!("ready");
    for line in std::io::stdin().lock().lines() {
        let times: u64 = line.unwrap().parse().unwrap_or(0);
        let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(move || all(times))).collect();
        let sum: u64 = threads.into_iter().map(|t| t.join().unwrap()).sum();
        println!("{}", sum);
    }
}
