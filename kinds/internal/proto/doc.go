// Package proto holds the declarations of all kinds: one .proto file per API group, their options
// (options.proto), and the files that `make generate` derives from them.
//
// descriptors.binpb is a google.protobuf.FileDescriptorSet of every file but the options, imports
// first. It omits implied properties: labels of single fields, types of message fields, and JSON
// names equal to the field name. The source information of each file is one location without path
// or span, whose leading comment documents messages and fields with lines of the form
//
//	<message>[.<field>] <text>
//
// by index in the file and in the message. options.pb.go has the options as Go types.
//
// Messages follow the Kubernetes API types: field names are the JSON names, and field numbers those
// of the wire format, which never packs repeated scalars.
package proto
