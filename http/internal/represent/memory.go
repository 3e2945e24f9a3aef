package represent

import (
	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/http/internal/response"
)

// What making an item in another encoding than that of the store takes, at most, times its size: the tree
// that it is decoded to, and its text. Objects of many small fields take most.
const (
	protobufGrowth = 3 // it makes no tree
	yamlGrowth     = 24
	cborGrowth     = 3 // it makes none either
)

// ObjectMemory is the memory, in bytes, in which an object of that size is put into another encoding than
// it has in the store; 0 if it is small, or goes out as it is. It is reserved before the work begins; so a
// few large requests wait instead of exhausting the process.
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

// Memory is the memory, in bytes, that a list takes while it is written: its buffers, its share of the
// listing, and that of the item which it is at. all and largest are what Measure has found. Only the largest item
// counts, since they are made one after the other.
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
