// Package api holds the built-in kinds. Each API group has a folder with its declarations (.proto)
// and, where these do not suffice, a package with its strategies. The tests of all groups are in
// this folder. options.proto declares the options of declarations; `make generate` derives
// descriptors.binpb and options.pb.go.
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
package api
