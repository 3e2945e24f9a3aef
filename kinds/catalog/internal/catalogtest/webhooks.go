package catalogtest

const (
	HookHead = `"name":"a.b.example","sideEffects":"None","admissionReviewVersions":["v1"]`
	HookURL  = `"clientConfig":{"url":"https://h/p"}`
	HookRule = `"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],`
)

func Hooks(hook string) string { return `{"webhooks":[{` + hook + `}]}` }
