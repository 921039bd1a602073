// SPDX-License-Identifier: GPL-2.0-only

// A program that knows what it does: for each line of its input, a number N, each of eight goroutines
// does so N times: it makes garbage, calls itself so deep that its stack has to move, and panics for
// each third. Prints what came of it.
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
)

const workers = 8

type node struct {
	left, right *node
	n           int
}

//go:noinline
func tree(depth int) *node {
	if depth == 0 {
		return &node{n: 1}
	}
	return &node{tree(depth - 1), tree(depth - 1), depth}
}

//go:noinline
func sum(t *node) int {
	if t == nil {
		return 0
	}
	return t.n + sum(t.left) + sum(t.right)
}

//go:noinline
func deep(n int) int {
	var large [64]int
	large[n%64] = n
	if n == 0 {
		return 0
	}
	return deep(n-1) + large[n%64]
}

//go:noinline
func fail(n int) (r int) {
	defer func() {
		if recover() != nil {
			r = 1
		}
	}()
	if n%3 == 0 {
		panic("three")
	}
	return 2
}

func work(times int) int {
	s := 0
	for i := 0; i < times; i++ {
		s += sum(tree(8)) + deep(i*37%500) + fail(i)
		runtime.Gosched()
	}
	return s
}

func main() {
	runtime.GOMAXPROCS(4)
	fmt.Println("ready")
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		times, _ := strconv.Atoi(in.Text())
		var all sync.WaitGroup
		sums := make([]int, workers)
		for g := range sums {
			all.Add(1)
			go func(g int) {
				defer all.Done()
				sums[g] = work(times)
			}(g)
		}
		all.Wait()
		runtime.GC()
		s := 0
		for _, one := range sums {
			s += one
		}
		fmt.Println(s)
	}
}
