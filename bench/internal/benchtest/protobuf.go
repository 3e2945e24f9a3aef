package benchtest

import (
	"bytes"
	"encoding/binary"
	"encoding/json"

	"google.golang.org/protobuf/encoding/protowire"
)

// magic begins every Protobuf body.
const magic = "k8s\x00"

// decode reads the body of a request: JSON, or a ConfigMap in Protobuf.
func decode(body []byte, object *tree) error {
	message, inProtobuf := bytes.CutPrefix(body, []byte(magic))
	if !inProtobuf {
		return json.Unmarshal(body, object)
	}
	data := tree{}
	configMap := fields(fields(message)[2][0])
	for _, entry := range configMap[2] {
		pair := fields(entry)
		data[string(pair[1][0])] = string(pair[2][0])
	}
	*object = tree{"metadata": tree{"name": string(fields(configMap[1][0])[1][0])}, "data": data}
	return nil
}

// fields are the fields of a message by number, all of which must be texts or messages.
func fields(b []byte) map[protowire.Number][][]byte {
	all := map[protowire.Number][][]byte{}
	for len(b) > 0 {
		number, _, n := protowire.ConsumeTag(b)
		value, size := protowire.ConsumeBytes(b[n:])
		if n < 0 || size < 0 {
			return all
		}
		all[number] = append(all[number], value)
		b = b[n+size:]
	}
	return all
}

// frame is an event as a stream in Protobuf has it: its length, and what watchers look for in it.
func frame(object tree) []byte {
	sent, _ := object["data"].(tree)["sent"].(string)
	entry := protowire.AppendString(append(protowire.AppendString([]byte{0x0a}, "sent"), 0x12), sent)
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(entry))), entry...)
}
