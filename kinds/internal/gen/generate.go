package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
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

// optionsFile declares the protobuf options that annotate kinds and fields. It is compiled to Go
// types. The other files declare kinds, and their descriptors are read at run time.
const optionsFile = "options.proto"

// Generate compiles all .proto files below dir and returns the generated files by name. It needs
// neither protoc nor the network. Its output is deterministic, because -check compares bytes.
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

func protoFiles(dir string) (names []string, err error) {
	err = fs.WalkDir(os.DirFS(dir), ".", func(path string, _ fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".proto" {
			names = append(names, path)
		}
		return err
	})
	return names, err
}

// descriptorSet returns the encoded descriptors. Each file comes after its imports, so that readers
// can register files in order. google.protobuf and the options file are omitted, because the daemon
// has them as Go code.
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

// stripFile returns a copy of a descriptor with only the parts that package schema reads. The
// daemon embeds the descriptor set and parses it at each startup.
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

// Descriptor field numbers in the paths of source locations.
const (
	pathMessage = 4 // FileDescriptorProto.message_type
	pathField   = 2 // DescriptorProto.field
)

// documentation returns one line for each message and field with a leading comment. A line consists
// of the index of the message (and of the field), a space, and the comment, as in "3 A Pod is ..."
// and "3.0 Standard metadata.". Source positions would take much more space.
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

// stripMessage drops redundant parts of a message: JSON names that equal the field name, synthetic
// oneofs, the type number of a field with a type name, and the label optional.
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

// optionTypes returns generated Go code with the types of the options. It calls protoc-gen-go as a
// function, so that go.mod determines its version.
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
