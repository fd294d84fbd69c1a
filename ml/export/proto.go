package export

import (
	"encoding/binary"
	"math"
)

// message is a message of Protocol Buffers as it is built: fields one after the other.
// Only what ONNX needs is here: integers, text, floats, and messages in messages.
type message []byte

func (m *message) key(field, wire int) {
	*m = binary.AppendUvarint(*m, uint64(field)<<3|uint64(wire))
}

// number adds an integer.
func (m *message) number(field int, v int64) {
	m.key(field, 0)
	*m = binary.AppendUvarint(*m, uint64(v))
}

// text adds text, bytes or a message.
func (m *message) text(field int, v []byte) {
	m.key(field, 2)
	*m = binary.AppendUvarint(*m, uint64(len(v)))
	*m = append(*m, v...)
}

// float adds a number of single precision.
func (m *message) float(field int, v float32) {
	m.key(field, 5)
	*m = binary.LittleEndian.AppendUint32(*m, math.Float32bits(v))
}
