// Package codec compares the codecs of package kinds/codec with the public Go types:
// objects filled at random must become the same bytes, in JSON and in Protobuf, and be
// read back from the bytes of either side.
package codec
