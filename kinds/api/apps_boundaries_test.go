package api_test

import (
	"testing"
)

func TestAppValidObjects(t *testing.T) {
	with := func(more string) string { return `{"spec":{` + PodTemplateSpec + `,` + more + `}}` }
	ExpectValid(t, "apps", "v1", "Deployment", with(`"replicas":0,"minReadySeconds":0,"revisionHistoryLimit":0,"progressDeadlineSeconds":1`),
		with(`"strategy":{"rollingUpdate":{"maxSurge":0,"maxUnavailable":"100%"}}`), with(`"strategy":{"rollingUpdate":{"maxSurge":1,"maxUnavailable":0}}`))
}
