package export

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"marginlab/ml"
	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
)

// field is one field of a Protocol Buffers message.
type field struct {
	number int
	value  uint64
	text   []byte
}

func fields(t *testing.T, m []byte) (all []field) {
	t.Helper()
	for len(m) > 0 {
		key, n := binary.Uvarint(m)
		require.Must(t, n > 0, "a key ends early")
		m = m[n:]
		f := field{number: int(key >> 3)}
		switch key & 7 {
		case 0:
			f.value, n = binary.Uvarint(m)
			require.Must(t, n > 0, "a number ends early")
			m = m[n:]
		case 2:
			size, n := binary.Uvarint(m)
			require.Must(t, n > 0 && size <= uint64(len(m)-n), "a text ends early")
			f.text, m = m[n:n+int(size)], m[n+int(size):]
		default:
			t.Fatalf("wire type %d", key&7)
		}
		all = append(all, f)
	}
	return all
}

func texts(all []field, number int) []string {
	found := lists.Filter(all, func(f field) bool { return f.number == number })
	return lists.Map(found, func(f field) string { return string(f.text) })
}

type parsed struct {
	operators       []string
	inputs, outputs []string
}

// parse parses a model and checks that every name is defined once, before its use.
func parse(t *testing.T, text []byte) parsed {
	t.Helper()
	model := fields(t, text)
	body := texts(model, 7)
	require.Must(t, len(body) == 1 && len(texts(model, 8)) == 1, "expected one graph and one set of operators")
	graph := fields(t, []byte(body[0]))
	known := map[string]bool{}
	define := func(name string) {
		require.Check(t, !known[name], "%s is defined twice", name)
		known[name] = true
	}
	var p parsed
	for _, f := range graph {
		switch f.number {
		case 5: // a constant: its size follows from its dimensions
			tensor, n, kind := fields(t, f.text), 1, 0
			define(texts(tensor, 8)[0])
			for _, f := range tensor {
				switch f.number {
				case 1:
					n *= int(f.value)
				case 2:
					kind = int(f.value)
				}
			}
			if raw := texts(tensor, 9); kind != isString && len(raw[0]) != n*map[int]int{isDouble: 8, isInt64: 8}[kind] {
				t.Errorf("a constant of %d values has %d bytes", n, len(raw[0]))
			} else if kind == isString && len(texts(tensor, 6)) != n {
				t.Error("a constant lacks texts")
			} else if kind == isDouble {
				for raw := []byte(raw[0]); len(raw) > 0; raw = raw[8:] {
					v := math.Float64frombits(binary.LittleEndian.Uint64(raw))
					require.Check(t, !math.IsNaN(v) && !math.IsInf(v, 0), "a constant is not finite")
				}
			}
		case 11:
			p.inputs = append(p.inputs, texts(fields(t, f.text), 1)...)
		case 12:
			p.outputs = append(p.outputs, texts(fields(t, f.text), 1)...)
		}
	}
	for _, name := range p.inputs {
		define(name)
	}
	for _, n := range texts(graph, 1) {
		node := fields(t, []byte(n))
		for _, name := range texts(node, 1) {
			require.Check(t, known[name], "%s is used before it is defined", name)
		}
		for _, name := range texts(node, 2) {
			define(name)
		}
		p.operators = append(p.operators, texts(node, 4)...)
	}
	for _, name := range p.outputs {
		require.Check(t, known[name], "the output %s is not defined", name)
	}
	return p
}

func TestONNXGraphsAreWhole(t *testing.T) {
	t.Parallel()
	format := require.Value(Find("onnx"))(t)
	for _, m := range everyday(t) {
		var text bytes.Buffer
		if err := format.Write(&text, m.model); err != nil {
			t.Errorf("%s: %v", m.name, err)
			continue
		}
		p := parse(t, text.Bytes())
		want := []string{"label", "f"}
		if m.model.Rule == ml.Value {
			want = want[1:]
		}
		if m.model.Platt != nil {
			want = append(want, "probability")
		}
		require.Check(t, slices.Equal(p.inputs, []string{"X"}) && slices.Equal(p.outputs, want),
			"%s: inputs %q, outputs %q", m.name, p.inputs, p.outputs)
		require.Check(t, m.model.Scaler != nil == slices.Contains(p.operators, "Div"),
			"%s: scaled %v, operators %q", m.name, m.model.Scaler != nil, p.operators)
	}
}
