package policy_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/admission/plugins"
)

func TestAlwaysPullImages(t *testing.T) {
	spec := func(policy string) string {
		p := `"imagePullPolicy":"` + policy + `"`
		return `{"spec":{"containers":[{"image":"a",` + p + `}],"initContainers":[{"image":"b",` + p + `}],"ephemeralContainers":[{"image":"c",` + p + `}],` +
			`"volumes":[{"image":{"reference":"d","pullPolicy":"` + policy + `"}},{"emptyDir":{}}]}}`
	}
	try(t, chainOf(t, nil, meta.Platform, plugins.AlwaysPullImages()), []attempt{
		{name: "a new Pod", new: spec("Never"), want: spec("Always")},
		{name: "an update of something else", old: spec("Never"), new: spec("Never")},
		{name: "an update with a new image", old: pod(""), new: spec("Never"), want: spec("Always")},
	})
}

func TestSecurityContextDeny(t *testing.T) {
	try(t, chainOf(t, nil, meta.Platform, plugins.SecurityContextDeny()), []attempt{
		{name: "nothing", new: pod(`"securityContext":{"runAsNonRoot":true,"runAsGroup":1}`)},
		{name: "groups", new: pod(`"securityContext":{"supplementalGroups":[1]}`), fault: "pod.Spec.SecurityContext.SupplementalGroups is forbidden"},
		{name: "SELinux", new: pod(`"securityContext":{"seLinuxOptions":{}}`), fault: "pod.Spec.SecurityContext.SELinuxOptions is forbidden"},
		{name: "user", old: pod(""), new: pod(`"securityContext":{"runAsUser":0}`), fault: "pod.Spec.SecurityContext.RunAsUser is forbidden"},
		{name: "fsGroup", new: pod(`"securityContext":{"fsGroup":1}`), fault: "pod.Spec.SecurityContext.FSGroup is forbidden"},
		{name: "user of a container", new: pod(`"initContainers":[{"securityContext":{"runAsUser":1}}]`), fault: "SecurityContext.RunAsUser is forbidden"},
	})
}

const limitRange = `{"spec":{"limits":[
	{"type":"Container","default":{"cpu":"2","memory":"1Gi"},"defaultRequest":{"cpu":"1"},"min":{"cpu":"500m"},"max":{"cpu":"2"},"maxLimitRequestRatio":{"cpu":"2"}},
	{"type":"Pod","max":{"cpu":"3"},"min":{"memory":"1Mi"}},
	{"type":"PersistentVolumeClaim","min":{"storage":"1Gi"},"max":{"storage":"2Gi"}}]}}`

func TestLimitRanger(t *testing.T) {
	c := newCluster(t, map[string]string{"limitranges ns/l": limitRange, "limitranges other/l": limitRange})
	resources := func(lists string) string { return `"resources":{` + lists + `}` }
	container := func(requests, limits string) string {
		return resources(`"requests":{` + requests + `},"limits":{` + limits + `}`)
	}
	of := func(metadata, containers, more string) string {
		return `{"metadata":{` + metadata + `},"spec":{"containers":[` + containers + `]` + more + `}}`
	}
	const own = `"cpu":"1","memory":"1Mi"`
	claim := func(size string) string { return `{"spec":{"resources":{"requests":{` + size + `}}}}` }
	full := `{"name":"c",` + container(own, own) + `}`
	try(t, chainOf(t, c, meta.Platform, plugins.LimitRanger(meta.Platform)), []attempt{
		{name: "defaults", new: of("", `{"name":"c"}`, `,"initContainers":[{"name":"i",`+container(own, own)+`}]`),
			want: of(`"annotations":{"platform.io/limit-ranger":"LimitRanger plugin set: cpu request for container c; cpu, memory limit for container c"}`,
				`{"name":"c",`+container(`"cpu":"1"`, `"cpu":"2","memory":"1Gi"`)+`}`, `,"initContainers":[{"name":"i",`+container(own, own)+`}]`)},
		{name: "nothing to set", new: of("", full, "")},
		{name: "a third Pod's worth", new: of("", full+","+full+","+full, "")},
		{name: "too much in all", new: of("", full+","+full+","+full+`,{"name":"d",`+container(own, own)+`}`, ""), fault: "maximum cpu usage per Pod is 3, but limit is 4"},
		{name: "a sidecar counts with the others", new: of("", full+","+full+","+full, `,"initContainers":[{"name":"s","restartPolicy":"Always",`+container(own, own)+`}]`),
			fault: "maximum cpu usage per Pod is 3, but limit is 4"},
		{name: "an init container does not", new: of("", full+","+full+","+full, `,"initContainers":[{"name":"s",`+container(own, own)+`}]`)},
		{name: "what the Pod says counts more", new: of("", full+","+full+","+full+","+full, `,"resources":{"limits":{"cpu":"3"},"requests":{"cpu":"3"}}`)},
		{name: "too little, and too much for its request", new: of("", `{"name":"c",`+container(`"cpu":"100m","memory":"1Mi"`, own)+`}`, ""),
			fault: "[minimum cpu usage per Container is 500m, but request is 100m, cpu max limit to request ratio per Container is 2, but provided ratio is 10.000000]"},
		{name: "too much", new: of("", `{"name":"c",`+container(`"cpu":"2500m","memory":"1Mi"`, `"cpu":"2500m","memory":"1Mi"`)+`}`, ""),
			fault: "maximum cpu usage per Container is 2, but limit is 2500m"},
		{name: "an update is no resize", old: of("", `{}`, ""), new: of("", `{}`, "")},
		{name: "a resize", resource: "/pods/resize", old: of("", full, ""), new: of("", `{"name":"c",`+container(own, `"cpu":"3","memory":"1Mi"`)+`}`, ""),
			fault: "[maximum cpu usage per Container is 2, but limit is 3, cpu max limit to request ratio per Container is 2, but provided ratio is 3.000000]"},
		{name: "a claim", resource: "/persistentvolumeclaims", new: claim(`"storage":"1Gi"`)},
		{name: "a small claim", resource: "/persistentvolumeclaims", new: claim(`"storage":"1Mi"`), fault: "minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 1Mi"},
		{name: "a large claim", resource: "/persistentvolumeclaims", old: claim(`"storage":"1Gi"`), new: claim(`"storage":"3Gi"`), fault: "maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi"},
		{name: "an empty claim", resource: "/persistentvolumeclaims", new: claim(``),
			fault: "[minimum storage usage per PersistentVolumeClaim is 1Gi.  No request is specified, maximum storage usage per PersistentVolumeClaim is 2Gi.  No request is specified]"},
		{name: "a claim that goes", resource: "/persistentvolumeclaims", old: `{"metadata":{"deletionTimestamp":"t"}}`, new: claim(``)},
	})
}
