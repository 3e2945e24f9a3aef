package core

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/api/core/service"
	"github.com/troupe-api/troupe/kinds/api/internal/warning"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Warnings warns about fields of a Service that are deprecated or without effect. They are not
// rejected, because stored Services must stay updatable.
//
// Unlike for workloads, each write warns, because its client can correct the Service. clusterIP
// equals the first of clusterIPs here.
func (s serviceStrategy) Warnings(obj, _ tree.Tree) (texts []string) {
	spec := obj.Object("spec")
	if obj.Object("metadata", "annotations").Has(s.hints) {
		texts = append(texts, fmt.Sprintf("annotation %s is deprecated, please use %s instead", s.hints, s.mode))
	}
	if ip := spec.String("clusterIP"); ip != "" && !service.IsHeadless(spec) {
		texts = s.addresses.AppendIPs(texts, spec.List("clusterIPs"), warning.At("", "spec.clusterIPs"))
	}
	if spec.String("type") == service.TypeClusterIP && service.IsHeadless(spec) {
		texts = appendHeadless(texts, spec)
	}
	texts = s.addresses.AppendIPs(texts, spec.List("externalIPs"), warning.At("", "spec.externalIPs"))
	if text := s.addresses.IP(spec.String("loadBalancerIP")); text != "" {
		texts = append(texts, "spec.loadBalancerIP"+text)
	}
	texts = s.addresses.AppendCIDRs(texts, spec.List("loadBalancerSourceRanges"), warning.At("", "spec.loadBalancerSourceRanges"))
	return appendWithoutEffect(texts, spec)
}

func appendHeadless(texts []string, spec tree.Tree) []string {
	if spec.String("loadBalancerIP") != "" {
		texts = append(texts, "spec.loadBalancerIP is ignored for headless services")
	}
	if len(spec.List("externalIPs")) > 0 {
		texts = append(texts, "spec.externalIPs is ignored for headless services")
	}
	// The path has a capital letter in kube-apiserver.
	if spec.String("sessionAffinity") != "None" {
		texts = append(texts, "spec.SessionAffinity is ignored for headless services")
	}
	return texts
}

// appendWithoutEffect warns about fields that the type of the Service does not use, and a
// deprecated value.
func appendWithoutEffect(texts []string, spec tree.Tree) []string {
	isExternalName := spec.String("type") == service.TypeExternalName
	if isExternalName && len(spec.List("externalIPs")) > 0 {
		texts = append(texts, `spec.externalIPs is ignored when spec.type is "ExternalName"`)
	}
	if !isExternalName && spec.String("externalName") != "" {
		texts = append(texts, `spec.externalName is ignored when spec.type is not "ExternalName"`)
	}
	if spec.String("trafficDistribution") == "PreferClose" {
		texts = append(texts, `spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"`)
	}
	return texts
}
