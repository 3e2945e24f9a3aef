package main

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"os"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/uuid"
)

// bill writes the SBOM of a program.
func (r *release) bill(s staged, n *notices) (err error) {
	program := s.file(s.platform.program())
	golang, modules, info, err := n.of(program)
	if err != nil {
		return err
	}
	digest, err := sum(program)
	if err != nil {
		return err
	}
	main := cdx.Component{
		Type: cdx.ComponentTypeApplication, Name: "troupe", Version: r.version, BOMRef: purl("golang", module, "v"+r.version),
		PackageURL: purl("golang", module, "v"+r.version) + "?goos=" + s.platform.os + "&goarch=" + s.platform.arch,
		Licenses:   licenses([]string{"Apache-2.0"}),
		Hashes:     &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: digest}},
	}
	golang.name = "std"
	parts := []cdx.Component{library("golang", golang)}
	for i, m := range modules {
		c := library("golang", m)
		// The checksum in go.sum covers all files of the module.
		checksum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(info.Deps[i].Sum, "h1:"))
		if err != nil {
			return err
		}
		c.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(checksum)}}
		parts = append(parts, c)
	}
	for _, p := range n.console {
		parts = append(parts, library("npm", p))
	}
	var names []string
	for _, p := range parts {
		names = append(names, p.BOMRef)
	}
	bom := cdx.NewBOM()
	bom.SerialNumber = uuid.NewSHA1(uuid.NameSpaceURL, []byte(homepage+"#"+digest)).URN()
	bom.Metadata = &cdx.Metadata{Timestamp: r.date.Format(time.RFC3339), Component: &main}
	bom.Components = &parts
	bom.Dependencies = &[]cdx.Dependency{{Ref: main.BOMRef, Dependencies: &names}}
	f, err := os.Create(r.named(s.platform, ".cdx.json"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return cdx.NewBOMEncoder(f, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
}

func library(ecosystem string, c component) cdx.Component {
	url := purl(ecosystem, c.name, c.version)
	return cdx.Component{Type: cdx.ComponentTypeLibrary, Name: c.name, Version: c.version, BOMRef: url, PackageURL: url, Licenses: licenses(c.licenses)}
}

func purl(ecosystem, name, version string) string {
	return "pkg:" + ecosystem + "/" + strings.ReplaceAll(name, "@", "%40") + "@" + version
}

func licenses(ids []string) *cdx.Licenses {
	var all cdx.Licenses
	for _, id := range ids {
		all = append(all, cdx.LicenseChoice{License: &cdx.License{ID: id}})
	}
	return &all
}
