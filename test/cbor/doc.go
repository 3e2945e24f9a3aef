// Package cbor holds the server's CBOR against the public serializer and against clients of the field that speak it.
//
// What clients may send is in body_test.go, what they get in answer_test.go; every kind in CBOR is a matter of package
// representation, and single values one of package codec.
package cbor
