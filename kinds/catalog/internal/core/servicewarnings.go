package core

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/catalog/internal/warning"
	"github.com/troupe-api/troupe/kinds/catalog/service"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Warnings returns what is accepted in a Service and deprecated, or without effect. None of it is
// refused, because Services of this kind are stored in many clusters, and a fault would make their
// next update impossible.
//
// It repeats its texts with each write, unlike for workloads: the same client that writes the
// Service can correct it. clusterIP is looked at through clusterIPs, whose first item it equals by
// now.
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

// appendHeadless warns of what a Service without an address of its own does not use.
func appendHeadless(texts []string, spec tree.Tree) []string {
	if spec.String("loadBalancerIP") != "" {
		texts = append(texts, "spec.loadBalancerIP is ignored for headless services")
	}
	if len(spec.List("externalIPs")) > 0 {
		texts = append(texts, "spec.externalIPs is ignored for headless services")
	}
	// The capital letter of the path is how the text is known to clients.
	if spec.String("sessionAffinity") != "None" {
		texts = append(texts, "spec.SessionAffinity is ignored for headless services")
	}
	return texts
}

// appendWithoutEffect warns of fields that the type of the Service does not use, and of a deprecated value.
// Leaving an ignored field in place usually means that its author expects something that will not happen.
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
