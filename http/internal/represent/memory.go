package represent

import (
	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/http/internal/response"
)

// Upper bounds of the memory to encode an item, as a multiple of its size: the decoded tree and the
// text. Objects with many small fields take most.
const (
	protobufGrowth = 3 // no tree
	yamlGrowth     = 24
	cborGrowth     = 3 // no tree
)

// ObjectMemory returns the bytes needed to encode an object of the given size; 0 if it is small or
// written as stored. They are reserved in advance, so that large requests wait instead of
// exhausting the process.
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

// Memory returns the bytes needed to write the list: buffers, its share of the listing, and one
// item. all and largest are the results of Measure. Only the largest item counts, since items are
// encoded one at a time.
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
