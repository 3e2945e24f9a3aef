package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/linker"
	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/cmd/protoc-gen-go/internal_gengo"
	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

// optionsFile declares the options; the other files of the folder declare kinds.
//
// Only its types become Go code. Kinds are read from the descriptors at run time, so that one engine serves all of
// them and a new kind needs no generated code.
const optionsFile = "options.proto"

// Generate compiles every .proto file of dir. It gives the generated files by name.
//
// The result depends on the files alone, not on the machine or on the order of a map, so that -check can compare
// bytes. It needs neither protoc nor the network.
func Generate(ctx context.Context, dir string) (map[string][]byte, error) {
	names, err := protoFiles(dir)
	if err != nil {
		return nil, err
	}
	compiler := protocompile.Compiler{
		Resolver:       protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: []string{dir}}),
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	files, err := compiler.Compile(ctx, names...)
	if err != nil {
		return nil, err
	}
	set, err := descriptorSet(files)
	if err != nil {
		return nil, err
	}
	options, err := optionTypes(files.FindFileByPath(optionsFile))
	if err != nil {
		return nil, err
	}
	return map[string][]byte{"descriptors.binpb": set, "options.pb.go": options}, nil
}

func protoFiles(dir string) ([]string, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.proto"))
	if err != nil {
		return nil, err
	}
	names := make([]string, len(paths))
	for i, path := range paths {
		names[i] = filepath.Base(path)
	}
	return names, nil // sorted by Glob
}

// descriptorSet lists each file after those that it imports, without the options.
//
// That order lets a reader register each file as it comes. google.protobuf and the options are left out, for the
// daemon has them as Go code.
func descriptorSet(files linker.Files) ([]byte, error) {
	set := &descriptorpb.FileDescriptorSet{}
	done := map[string]bool{optionsFile: true}
	var add func(file protoreflect.FileDescriptor)
	add = func(file protoreflect.FileDescriptor) {
		if done[file.Path()] || file.Package() == "google.protobuf" {
			return
		}
		done[file.Path()] = true
		for i := range file.Imports().Len() {
			add(file.Imports().Get(i).FileDescriptor)
		}
		set.File = append(set.File, stripFile(protoutil.ProtoFromFileDescriptor(file)))
	}
	for _, file := range files {
		add(file)
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(set)
}

// stripFile keeps what package schema reads.
//
// The set is part of the daemon, and read at each start: most of what a compiler puts into it would only make both
// larger. The file is cloned, because the compiler's own descriptors share it.
func stripFile(file *descriptorpb.FileDescriptorProto) *descriptorpb.FileDescriptorProto {
	file = proto.Clone(file).(*descriptorpb.FileDescriptorProto)
	file.SourceCodeInfo = &descriptorpb.SourceCodeInfo{Location: []*descriptorpb.SourceCodeInfo_Location{
		{LeadingComments: proto.String(documentation(file.GetSourceCodeInfo()))},
	}}
	for _, message := range file.MessageType {
		stripMessage(message)
	}
	return file
}

// Numbers of descriptor fields in the paths of source locations.
const (
	pathMessage = 4 // FileDescriptorProto.message_type
	pathField   = 2 // DescriptorProto.field
)

// documentation gives a line to each message and field with a leading comment: its index,
// or that of the message, a dot and its index; a blank; and the comment.
//
// Example: "3 A Pod is ..." for the fourth message, and "3.0 Standard metadata." for its first field. Source
// positions would take many times the space of the texts.
func documentation(info *descriptorpb.SourceCodeInfo) string {
	var b strings.Builder
	for _, l := range info.GetLocation() {
		text, p := strings.Join(strings.Fields(l.GetLeadingComments()), " "), l.Path
		switch {
		case text == "" || len(p) < 2 || p[0] != pathMessage:
		case len(p) == 2:
			fmt.Fprintf(&b, "%d %s\n", p[1], text)
		case len(p) == 4 && p[2] == pathField:
			fmt.Fprintf(&b, "%d.%d %s\n", p[1], p[3], text)
		}
	}
	return b.String()
}

// stripMessage drops JSON names that are the field's own, the synthetic oneofs, and what
// follows from the rest.
//
// A field with the name of a type needs no type number, and optional is the label
// that a missing one means here.
func stripMessage(message *descriptorpb.DescriptorProto) {
	message.OneofDecl = nil
	for _, field := range message.Field {
		field.OneofIndex = nil
		if field.GetJsonName() == field.GetName() {
			field.JsonName = nil
		}
		if field.GetLabel() == descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL {
			field.Label = nil
		}
		if field.TypeName != nil {
			field.Type = nil
		}
	}
	for _, nested := range message.NestedType {
		stripMessage(nested)
	}
}

// optionTypes is the Go code of the options.
//
// It calls the generator as a function, with the request that protoc would have sent to the plugin, so that its
// version is that of go.mod.
func optionTypes(file linker.File) ([]byte, error) {
	request := &pluginpb.CodeGeneratorRequest{
		FileToGenerate: []string{optionsFile},
		Parameter:      proto.String("paths=source_relative"),
	}
	for i := range file.Imports().Len() {
		imported := file.Imports().Get(i).FileDescriptor
		request.ProtoFile = append(request.ProtoFile, protoutil.ProtoFromFileDescriptor(imported))
	}
	request.ProtoFile = append(request.ProtoFile, protoutil.ProtoFromFileDescriptor(file))
	plugin, err := protogen.Options{}.New(request)
	if err != nil {
		return nil, err
	}
	internal_gengo.GenerateFile(plugin, plugin.FilesByPath[optionsFile])
	answer := plugin.Response()
	if answer.Error != nil {
		return nil, fmt.Errorf("options: %s", answer.GetError())
	}
	return []byte(answer.File[0].GetContent()), nil
}
