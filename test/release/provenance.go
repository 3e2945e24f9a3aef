package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	provenance "github.com/in-toto/attestation/go/predicates/provenance/v1"
	intoto "github.com/in-toto/attestation/go/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"
)

// provenance writes an in-toto statement about all output files. It contains the commit, version
// and Go release from which they were built.
func (r *release) provenance() error {
	parameters, err := structpb.NewStruct(map[string]any{"version": r.version})
	if err != nil {
		return err
	}
	p := &provenance.Provenance{
		BuildDefinition: &provenance.BuildDefinition{
			BuildType:          homepage + "/blob/" + r.commit + "/test/release/doc.go",
			ExternalParameters: parameters,
			ResolvedDependencies: []*intoto.ResourceDescriptor{
				{Uri: "git+" + homepage + "@" + r.commit, Digest: map[string]string{"gitCommit": r.commit}},
				{Name: "go", Uri: "pkg:golang/toolchain@" + strings.TrimPrefix(runtime.Version(), "go")},
			},
		},
		RunDetails: &provenance.RunDetails{Builder: &provenance.Builder{Id: homepage + "/blob/" + r.commit + "/Makefile"}},
	}
	if err := p.Validate(); err != nil {
		return err
	}
	text, err := protojson.Marshal(p)
	if err != nil {
		return err
	}
	predicate := &structpb.Struct{}
	if err := protojson.Unmarshal(text, predicate); err != nil {
		return err
	}
	s := &intoto.Statement{Type: intoto.StatementTypeUri, PredicateType: "https://slsa.dev/provenance/v1", Predicate: predicate}
	err = r.eachSum(func(name, digest string) {
		s.Subject = append(s.Subject, &intoto.ResourceDescriptor{Name: name, Digest: map[string]string{"sha256": digest}})
	})
	if err != nil {
		return err
	}
	if err := s.Validate(); err != nil {
		return err
	}
	if text, err = protojson.Marshal(s); err != nil {
		return err
	}
	// protojson varies its white space between builds of this program, so reformat the text.
	var indented bytes.Buffer
	if err := json.Indent(&indented, text, "", "  "); err != nil {
		return err
	}
	indented.WriteByte('\n')
	return create(filepath.Join(r.out, "provenance.intoto.json"), func(w io.Writer) error {
		_, err := indented.WriteTo(w)
		return err
	})
}

// eachSum calls do with the name and SHA-256 checksum of each output file.
func (r *release) eachSum(do func(name, digest string)) error {
	entries, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	for _, e := range entries {
		digest, err := sum(filepath.Join(r.out, e.Name()))
		if err != nil {
			return err
		}
		do(e.Name(), digest)
	}
	return nil
}
