package export

import "encoding/binary"

// message is a Protocol Buffers message under construction. It supports what ONNX needs:
// integers, text, and nested messages.
type message []byte

func (m *message) key(field, wire int) {
	*m = binary.AppendUvarint(*m, uint64(field)<<3|uint64(wire))
}

// number appends an integer.
func (m *message) number(field int, v int64) {
	m.key(field, 0)
	*m = binary.AppendUvarint(*m, uint64(v))
}

// text appends text, bytes or a message.
func (m *message) text(field int, v []byte) {
	m.key(field, 2)
	*m = binary.AppendUvarint(*m, uint64(len(v)))
	*m = append(*m, v...)
}
