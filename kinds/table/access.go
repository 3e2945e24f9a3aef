package table

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// showSubjects lists the subjects of one kind, because binding tables have one column per subject
// kind. Service accounts are shown as "kube-system/builder, default/robot".
func showSubjects(r *row, kind string) string {
	var names []string
	for s := range r.json.Field("subjects").Items {
		if s.Field("kind").Text() != kind {
			continue
		}
		name := s.Field("name").Text()
		if kind == "ServiceAccount" {
			name = s.Field("namespace").Text() + "/" + name
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

func showRequestDuration(r *row, _ string) string {
	seconds := r.json.At("spec.expirationSeconds")
	if !seconds.Exists() {
		return none
	}
	return HumanDuration(time.Duration(seconds.Int()) * time.Second)
}

// showRequestCondition shows the condition of a CertificateSigningRequest, such as "Pending",
// "Approved,Issued" or "Denied".
func showRequestCondition(r *row, _ string) string {
	status := r.json.Field("status")
	conditions := status.Field("conditions")
	text := "Pending"
	switch {
	case condition(conditions, "Denied") != nil:
		text = "Denied"
	case condition(conditions, "Approved") != nil:
		text = "Approved"
	}
	if condition(conditions, "Failed") != nil {
		text += ",Failed"
	}
	if status.Field("certificate").Text() != "" {
		text += ",Issued"
	}
	return text
}

// showParamRef shows the parameters of an admission policy binding, such as "prod/limits", or the
// parameter selector. "*/limits" means the request's namespace.
func showParamRef(r *row, _ string) string {
	p := r.json.At("spec.paramRef")
	text := ""
	if name := p.Field("name").Text(); name != "" {
		text = p.Field("namespace").Text()
		if text == "" {
			text = "*"
		}
		text += "/" + name
	} else if s := p.Field("selector"); s.Exists() {
		text = selectorText(s)
	}
	return cmp.Or(text, unset)
}

func showAPIService(r *row, _ string) string {
	s := r.json.At("spec.service")
	if !s.Exists() {
		return "Local"
	}
	return s.Field("namespace").Text() + "/" + s.Field("name").Text()
}

// showCondition shows the status of a condition. The argument "Dangling/?" selects the condition
// Dangling, or shows "?" if there is none.
func showCondition(r *row, arg string) string {
	name, absent, _ := strings.Cut(arg, "/")
	if c := condition(r.json.At("status.conditions"), name); c != nil {
		return c.Field("status").Text()
	}
	return absent
}

// showAPIAvailable shows the Available condition of an APIService, such as "True" or "False
// (FailedDiscoveryCheck)".
func showAPIAvailable(r *row, _ string) string {
	c := condition(r.json.At("status.conditions"), "Available")
	if c == nil {
		return "Unknown"
	}
	text := c.Field("status").Text()
	if text != "True" {
		text += " (" + c.Field("reason").Text() + ")"
	}
	return text
}

func showServedVersions(r *row, _ string) string {
	var versions []string
	for v := range r.json.At("spec.versions").Items {
		name := v.Field("name").Text()
		if v.Field("storage").IsTrue() {
			name += "(storage)"
		}
		if v.Field("served").IsTrue() {
			versions = append(versions, name)
		}
	}
	slices.Sort(versions)
	return strings.Join(versions, ",")
}

func showGroupResource(r *row, _ string) string {
	of := r.json.At("spec.resource")
	text := of.Field("resource").Text()
	if group := of.Field("group").Text(); group != "" {
		text += "." + group
	}
	return text
}

// showOutcome shows the last of several conditions that is True. With the argument
// "Pending/Ready/Failed", it shows Pending if neither Ready nor Failed is True.
func showOutcome(r *row, arg string) string {
	kinds := strings.Split(arg, "/")
	text := kinds[0]
	for _, kind := range kinds[1:] {
		if conditionTrue(r.json.At("status.conditions"), kind) {
			text = kind
		}
	}
	return text
}
