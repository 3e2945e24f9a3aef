// Package represent makes the representations of answers: objects, lists and events as JSON, YAML, Protobuf or CBOR; whole,
// as a Table, or the metadata alone.
//
// Its nouns:
//
//	Encoder  makes all of them; it knows the names of messages
//	Body     an answer: bytes, or what writes them piece by piece
//	List     a list that writes itself, object by object, in every encoding
//	Events   the events of one watch in the format that was negotiated
//	Forms    objects in Protobuf and CBOR, each made once for all who read, list or watch it
//
// The store's objects stay as they are, and no list is put together: it holds no more than a few converted items
// at a time. What a representation will take of memory is estimated here, and reserved by who sends it.
//
// Everything here is a function of objects and a Format: nothing knows a request, its connection or the store.
package represent
