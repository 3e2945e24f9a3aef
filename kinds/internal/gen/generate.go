package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/linker"
	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/cmd/protoc-gen-go/internal_gengo"
	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"

	"github.com/troupe-api/troupe/kinds/internal/declarations"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// optionsFile declares the protobuf options that annotate kinds and fields. It is compiled to Go
// types, whereas the descriptors of the other files are read at run time.
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
	declared, err := encode(files)
	if err != nil {
		return nil, err
	}
	if err := check(declared); err != nil {
		return nil, err
	}
	options, err := optionTypes(files.FindFileByPath(optionsFile))
	if err != nil {
		return nil, err
	}
	return map[string][]byte{"declarations.binpb": declared, "options.pb.go": options}, nil
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

// encode returns the declarations of files in a fixed order. It omits google.protobuf and the
// options file, which the daemon contains as Go code.
func encode(files linker.Files) ([]byte, error) {
	var all []*descriptorpb.FileDescriptorProto
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
		all = append(all, protoutil.ProtoFromFileDescriptor(file))
	}
	for _, file := range files {
		add(file)
	}
	return declarations.Encode(all)
}

func check(encoded []byte) error {
	plan, err := schema.Load(encoded, meta.Platform)
	if err == nil {
		_, err = plan.Messages()
	}
	return err
}

// optionTypes returns Go code with the types of the options. It calls protoc-gen-go as a function,
// so that go.mod determines its version.
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
