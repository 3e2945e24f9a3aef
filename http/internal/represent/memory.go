package represent

import (
	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/http/internal/response"
)

// Upper bounds of the memory needed to encode an item, as multiples of its JSON size. They include
// the decoded tree and the encoded text. Objects with many small fields need the most memory.
const (
	protobufGrowth = 3 // no tree
	yamlGrowth     = 24
	cborGrowth     = 3 // no tree
)

// ObjectMemory returns the bytes to reserve before encoding an object of the given JSON size. It
// returns 0 for objects that are small or written as stored.
func ObjectMemory(f negotiate.Format, size int) int64 {
	if size <= response.MaxBuffered {
		return 0
	}
	room := int64(response.Overhead)
	switch {
	case f.Encoding == negotiate.YAML:
		return room + int64(size)*yamlGrowth
	case f.Encoding == negotiate.Protobuf:
		return room + int64(size)*protobufGrowth
	case f.Encoding == negotiate.CBOR:
		return room + int64(size)*cborGrowth
	case f.Shape != negotiate.Whole:
		return room + int64(size)*2
	case f.Pretty:
		return room
	}
	return 0
}

// Memory returns the bytes needed to write the list: its buffers, its slice of items, and the
// encoding of the largest item, because items are encoded one at a time. all and largest are the
// results of Measure.
func (l *List) Memory(all, largest int) int64 {
	if all <= response.MaxBuffered {
		return 0
	}
	room := response.Overhead + 8*len(l.items)
	switch {
	case l.format.Encoding == negotiate.YAML:
		room += yamlGrowth * largest
	case l.format.Encoding == negotiate.Protobuf:
		room += protobufGrowth * largest
	case l.format.Encoding == negotiate.CBOR:
		room += cborGrowth * largest
	case !l.asStored():
		room += 2 * largest
	}
	return int64(room)
}
