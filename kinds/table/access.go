package table

import (
	"slices"
	"strings"
	"time"

	"github.com/troupe-api/troupe/kinds/jsontext"
)

// showSubjects lists the subjects of one kind, because binding tables have one column per subject
// kind. Service accounts are shown as "kube-system/builder, default/robot".
func showSubjects(b []byte, r *row, kind string) []byte {
	var names []string
	r.json.Field("subjects").Items(func(s jsontext.Value) bool {
		if s.Field("kind").Text() != kind {
			return true
		}
		name := s.Field("name").Text()
		if kind == "ServiceAccount" {
			name = s.Field("namespace").Text() + "/" + name
		}
		names = append(names, name)
		return true
	})
	return jsontext.AppendString(b, strings.Join(names, ", "))
}

func showRequestDuration(b []byte, r *row, _ string) []byte {
	seconds := r.json.At("spec.expirationSeconds")
	if !seconds.Exists() {
		return jsontext.AppendString(b, none)
	}
	return jsontext.AppendString(b, HumanDuration(time.Duration(seconds.Int())*time.Second))
}

// showRequestCondition shows the condition of a CertificateSigningRequest, such as "Pending",
// "Approved,Issued" or "Denied".
func showRequestCondition(b []byte, r *row, _ string) []byte {
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
	return jsontext.AppendString(b, text)
}

// showParamRef shows the parameters of an admission policy binding, such as "prod/limits", or the
// parameter selector. "*/limits" means the request's namespace.
func showParamRef(b []byte, r *row, _ string) []byte {
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
	return appendOr(b, text, unset)
}

func showAPIService(b []byte, r *row, _ string) []byte {
	s := r.json.At("spec.service")
	if !s.Exists() {
		return jsontext.AppendString(b, "Local")
	}
	return jsontext.AppendString(b, s.Field("namespace").Text()+"/"+s.Field("name").Text())
}

// showCondition shows the status of a condition. With the argument "Dangling/?", it shows the
// condition Dangling, or "?" if the object has no such condition.
func showCondition(b []byte, r *row, arg string) []byte {
	name, absent, _ := strings.Cut(arg, "/")
	if c := condition(r.json.At("status.conditions"), name); c != nil {
		return jsontext.AppendString(b, c.Field("status").Text())
	}
	return jsontext.AppendString(b, absent)
}

// showAPIAvailable shows the Available condition of an APIService, such as "True" or "False
// (FailedDiscoveryCheck)".
func showAPIAvailable(b []byte, r *row, _ string) []byte {
	c := condition(r.json.At("status.conditions"), "Available")
	if c == nil {
		return jsontext.AppendString(b, "Unknown")
	}
	text := c.Field("status").Text()
	if text != "True" {
		text += " (" + c.Field("reason").Text() + ")"
	}
	return jsontext.AppendString(b, text)
}

// showServedVersions shows the versions that a CustomResourceDefinition serves, and which of them is
// stored.
func showServedVersions(b []byte, r *row, _ string) []byte {
	var versions []string
	r.json.At("spec.versions").Items(func(v jsontext.Value) bool {
		name := v.Field("name").Text()
		if v.Field("storage").IsTrue() {
			name += "(storage)"
		}
		if v.Field("served").IsTrue() {
			versions = append(versions, name)
		}
		return true
	})
	slices.Sort(versions)
	return jsontext.AppendString(b, strings.Join(versions, ","))
}

func showGroupResource(b []byte, r *row, _ string) []byte {
	of := r.json.At("spec.resource")
	text := of.Field("resource").Text()
	if group := of.Field("group").Text(); group != "" {
		text += "." + group
	}
	return jsontext.AppendString(b, text)
}

// showOutcome shows the last of several conditions that is True. With the argument
// "Pending/Ready/Failed", it shows Pending if neither is.
func showOutcome(b []byte, r *row, arg string) []byte {
	kinds := strings.Split(arg, "/")
	text := kinds[0]
	for _, kind := range kinds[1:] {
		if conditionTrue(r.json.At("status.conditions"), kind) {
			text = kind
		}
	}
	return jsontext.AppendString(b, text)
}
