# SPDX-License-Identifier: GPL-2.0-only
# stamps.awk THEIRS OURS: lines KIND TICKS of the same events, in order; rows for ttest of how far
# they agree. All that is compared are differences of one tool's stamps: their clocks have no common
# zero.

function fact(name, value) {
	printf "fact\tstamps\t%s\t%.10g\n", name, value
}

function abs(v) {
	return v < 0 ? -v : v
}

FNR == 1 { file++ }
file == 1 { n++; kind[n] = $1; theirs[n] = $2; next }
{ m++; other[m] = $1; ours[m] = $2 }

# The interval between the last event of a kind and this one, in both.
function interval(i) {
	if (kind[i] in last) {
		a = theirs[i] - theirs[last[kind[i]]]
		b = ours[i] - ours[last[kind[i]]]
		off[++intervals] = abs(b - a) / a
		sum += off[intervals]
	} else {
		first[kind[i]] = i
	}
	last[kind[i]] = i
}

END {
	for (i = 1; i <= n && i <= m; i++) {
		same += kind[i] == other[i]
		interval(i)
	}
	fact("events of the kernel's tracer", n)
	fact("events of ours", m)
	fact("at the same place in the order", same)
	for (i = 1; i <= intervals; i++) {
		near += off[i] < 0.01
		most = off[i] > most ? off[i] : most
	}
	fact("intervals between events of a kind", intervals)
	fact("of them within 1 %", near)
	fact("mean difference of an interval, %", 100 * sum / intervals)
	fact("greatest, %", 100 * most)
	a = theirs[last["in"]] - theirs[first["in"]]
	b = ours[last["in"]] - ours[first["in"]]
	fact("ticks from the first entry to the last, theirs", a)
	fact("drift over that, %", 100 * abs(b - a) / a)
	for (i = 1; i < n && i < m; i++)
		if (kind[i] == "in" && kind[i + 1] == "out") {
			calls++
			more += theirs[i + 1] - theirs[i] - ours[i + 1] + ours[i]
		}
	if (calls)
		fact("ticks that a call takes longer by their stamps", more / calls)
}
