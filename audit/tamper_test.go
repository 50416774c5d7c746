package audit

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/audit/checkpoint"
)

// chainOf makes a whole chain of n lines in memory.
func chainOf(t testing.TB, writer string, n int) [][]byte {
	t.Helper()
	c := &chain{hash: newHasher(), now: clock()}
	for i := range n {
		call := bareCall(fmt.Sprint(writer, "-", i))
		call.Phase = PhaseClose
		p := prepare(call, nil)
		body, err := encodeCall(writer, &p)
		must(t, err)
		c.layOut(&entry{body: body})
	}
	return bytes.SplitAfter(c.buf, []byte("\n"))[:n]
}

// window verifies some lines of a chain that go on behind line from.
func window(lines [][]byte, from int, changed ...[]byte) Report {
	v := newVerifier()
	if from > 0 {
		v.at = link{seq: uint64(from), head: v.hash.leaf(bytes.TrimSuffix(lines[from-1], []byte("\n")))}
	}
	r := newLineReader(bytes.NewReader(bytes.Join(changed, nil)))
	for n := 1; ; n++ {
		l, err := r.next()
		if err != nil {
			return v.finish(from > 0)
		}
		v.line(from+n, l)
	}
}

// TestTampering does one thing to a log of 10,000 records, many times: it is
// found, at its line, and named as what it is. What lies far from it is not
// read each time.
func TestTampering(t *testing.T) {
	const records, around = 10000, 30
	lines := chainOf(t, "w1", records)
	other := chainOf(t, "w2", records)
	times := func(n int) int {
		if testing.Short() {
			return n / 10
		}
		return n
	}
	random := rand.New(rand.NewPCG(1, 2))
	// within gives the lines around those from a to b, and where they begin.
	within := func(a, b int) (from int, out [][]byte) {
		from = max(0, a-around)
		return from, slices.Clone(lines[from:min(records, b+around)])
	}
	wantFirst := func(what string, r Report, line, most int, kinds ...string) {
		t.Helper()
		if r.OK || r.Findings[0].Line != line || !slices.Contains(kinds, r.Findings[0].Kind) || len(r.Findings) > most {
			t.Fatalf("%s: want %s at line %d, got %+v", what, kinds, line, r.Findings)
		}
	}
	for range times(2000) {
		i := random.IntN(records)
		from, w := within(i, i+1)
		bad := bytes.Clone(lines[i])
		at := random.IntN(len(bad))
		if random.IntN(20) == 0 {
			at = len(bad) - 1
		}
		bad[at] ^= byte(1 << random.IntN(8))
		w[i-from] = bad
		wantFirst(fmt.Sprintf("flip byte %d of %q", at, lines[i]), window(lines, from, w...), i+1, 2, KindEdited)
	}
	for range times(500) {
		i := 1 + random.IntN(records-5)
		n := 1 + random.IntN(3)
		from, w := within(i, i+n)
		wantFirst(fmt.Sprint("remove ", n), window(lines, from, slices.Delete(w, i-from, i-from+n)...), i+1, 1, KindRemoved)
	}
	for k := range times(500) {
		i := random.IntN(records)
		j := min(records-1, i+k%25) // behind which it stands again
		from, w := within(i, j+1)
		wantFirst("repeat", window(lines, from, slices.Insert(w, j+1-from, lines[i])...), j+2, 1, KindRepeated)
	}
	for k := range times(500) {
		i := random.IntN(records - 1)
		j := i + 1
		if k%2 > 0 {
			j = i + 1 + random.IntN(min(records-1-i, 500))
		}
		from, w := within(i, j+1)
		w[i-from], w[j-from] = w[j-from], w[i-from]
		wantFirst(fmt.Sprintf("swap %d %d", i+1, j+1), window(lines, from, w...), i+1, 2, KindMoved)
	}
	for k := range times(200) {
		i := random.IntN(records - 1)
		from, w := within(i, i+1)
		what, kind := []byte(`{"a":1}`+"\n"), KindInserted
		if k%2 > 0 {
			what, kind = other[random.IntN(records)], KindOther
		}
		wantFirst(fmt.Sprintf("insert %.90s before %d", what, i+1), window(lines, from, slices.Insert(w, i-from, what)...), i+1, 1, kind)
	}
	whole := window(lines, 0, lines...)
	if !whole.OK || whole.Records != records {
		t.Fatalf("%+v", whole)
	}
	for range times(300) {
		n := 1 + random.IntN(records-1)
		from := max(0, n-around)
		v := newVerifier()
		v.at = link{seq: uint64(from)}
		v.damaged = from > 0
		v.signed = []checkpoint.Checkpoint{{Size: records, Head: *whole.Head}}
		for i := from; i < n; i++ {
			v.line(i+1, rawLine{bytes: bytes.TrimSuffix(lines[i], []byte("\n"))})
		}
		v.settle()
		v.cut()
		r := v.finish(true)
		if r.OK || len(r.Findings) != 1 || r.Findings[0].Kind != KindCut {
			t.Fatalf("cut behind %d: %+v", n, r.Findings)
		}
	}
}

// TestTamperingNames: what is done to more than one line, and what all of it
// is called.
func TestTamperingNames(t *testing.T) {
	lines, other := chainOf(t, "w1", 40), chainOf(t, "w2", 60)
	at := func(from, to int) [][]byte { return lines[from-1 : to] }
	edited := bytes.Replace(lines[9], []byte("w1"), []byte("w3"), 1)
	resummed := append(appendSum(bytes.Clone(edited[:len(edited)-1-sumTail]), 0), '\n')
	object := []byte(`{"a":1}` + "\n")
	for name, c := range map[string]struct {
		log  [][]byte
		want string
	}{
		"a line moved down":                 {slices.Concat(at(1, 9), at(11, 20), at(10, 10), at(21, 40)), "10 moved"},
		"a line moved up":                   {slices.Concat(at(1, 9), at(20, 20), at(10, 19), at(21, 40)), "10 moved"},
		"the first line moved to the end":   {slices.Concat(at(2, 40), at(1, 1)), "1 moved"},
		"the last line moved to the begin":  {slices.Concat(at(40, 40), at(1, 39)), "1 moved"},
		"a block moved down":                {slices.Concat(at(1, 9), at(15, 20), at(10, 14), at(21, 40)), "10 moved"},
		"three lines in the other order":    {slices.Concat(at(1, 9), at(12, 12), at(11, 11), at(10, 10), at(13, 40)), "10 moved, 12 moved"},
		"two lines swapped, neighbours":     {slices.Concat(at(1, 9), at(11, 11), at(10, 10), at(12, 40)), "10 moved"},
		"two lines swapped":                 {slices.Concat(at(1, 9), at(20, 20), at(11, 19), at(10, 10), at(21, 40)), "10 moved, 20 moved"},
		"a block repeated":                  {slices.Concat(at(1, 20), at(11, 20), at(21, 40)), "21 repeated"},
		"a later line copied":               {slices.Concat(at(1, 9), at(20, 20), at(10, 40)), "10 repeated"},
		"another chain behind it":           {slices.Concat(lines, other), "41 other-chain"},
		"a block of another chain, later":   {slices.Concat(at(1, 9), other[30:35], at(10, 40)), "10 other-chain"},
		"a block of another chain, same":    {slices.Concat(at(1, 9), other[9:12], at(10, 40)), "10 other-chain"},
		"a block of another chain, before":  {slices.Concat(at(1, 9), other[3:5], at(10, 40)), "10 other-chain"},
		"an object at the end":              {slices.Concat(lines, [][]byte{object}), "41 inserted"},
		"an object in the place of a line":  {slices.Concat(at(1, 9), [][]byte{object}, at(11, 40)), "10 edited"},
		"edited, and its sum made anew":     {slices.Concat(at(1, 9), [][]byte{resummed}, at(11, 40)), "11 chain"},
		"edited twice":                      {slices.Concat(at(1, 9), [][]byte{edited, edited}, at(12, 40)), "10 edited, 11 edited"},
		"edited, and lines behind it gone":  {slices.Concat(at(1, 9), [][]byte{edited}, at(15, 40)), "10 edited, 11 removed"},
		"removed twice":                     {slices.Concat(at(1, 9), at(12, 20), at(23, 40)), "10 removed, 19 removed"},
		"all but the last before it gone":   {slices.Concat(at(1, 9), at(40, 40)), "10 removed"},
		"a newline within a line":           {slices.Concat(at(1, 9), [][]byte{lines[9][:50], {'\n'}, lines[9][51:]}, at(11, 40)), "10 edited, 11 edited"},
		"the last newline is another byte":  {slices.Concat(at(1, 39), [][]byte{bytes.TrimSuffix(lines[39], []byte("\n")), {'x'}}), "40 edited"},
		"the last newline is not there":     {slices.Concat(at(1, 39), [][]byte{bytes.TrimSuffix(lines[39], []byte("\n"))}), "40 torn"},
		"removed, edited, inserted, moved":  {slices.Concat(at(1, 4), at(6, 9), [][]byte{edited}, at(11, 17), [][]byte{object}, at(18, 19), at(21, 21), at(20, 20), at(22, 40)), "5 removed, 9 edited, 17 inserted, 20 moved"},
		"lines of nothing, more than wait":  {slices.Concat(at(1, 9), slices.Repeat([][]byte{object}, mostWaiting+5), at(10, 40)), "10 edited"},
		"a gap, and a line of it elsewhere": {slices.Concat(at(1, 9), at(15, 20), at(12, 12), at(21, 40)), "10 removed, 10 removed, 16 moved"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			r := window(lines, 0, c.log...)
			for _, f := range r.Findings {
				got = append(got, fmt.Sprintf("%d %s", f.Line, f.Kind))
			}
			if len(got) > 5 {
				got = got[:1]
			}
			if strings.Join(got, ", ") != c.want {
				t.Errorf("want %s, got %+v", c.want, r.Findings)
			}
		})
	}
}

// TestTamperingMixed does several things to one log: however they meet, it is
// not whole, unless only its end is gone or nothing happened to it.
func TestTamperingMixed(t *testing.T) {
	lines, other := chainOf(t, "w1", 40), chainOf(t, "w2", 60)
	whole := bytes.Join(lines, nil)
	random := rand.New(rand.NewPCG(3, 4))
	times := 3000
	if testing.Short() {
		times = 500
	}
	for range times {
		log, done := slices.Clone(lines), []string(nil)
		for range 1 + random.IntN(5) {
			i := random.IntN(len(log))
			j := min(len(log), i+1+random.IntN(4))
			block := slices.Clone(log[i:j])
			done = append(done, fmt.Sprint(i+1, "-", j))
			switch random.IntN(6) {
			case 0:
				log = slices.Delete(log, i, j)
			case 1:
				log = slices.Insert(log, random.IntN(len(log)+1), block...)
			case 2:
				log = slices.Delete(log, i, j)
				log = slices.Insert(log, random.IntN(len(log)+1), block...)
			case 3:
				log[i] = bytes.Clone(log[i])
				log[i][random.IntN(len(log[i]))] ^= byte(1 << random.IntN(8))
			case 4:
				k := random.IntN(len(other) - 4)
				log = slices.Insert(log, i, other[k:k+1+random.IntN(3)]...)
			case 5:
				log[i], log[j-1] = log[j-1], log[i]
			}
			if len(log) == 0 {
				break
			}
		}
		bad := bytes.Join(log, nil)
		if r := window(lines, 0, bad); r.OK != bytes.HasPrefix(whole, bad) || !slices.IsSortedFunc(r.Findings, func(a, b Finding) int { return a.Line - b.Line }) {
			t.Fatalf("%s: %+v", done, r)
		}
	}
}
