package table

func showComponentHealth(r *row, _ string) string {
	c := condition(r.json.At("conditions"), "Healthy")
	switch {
	case c == nil:
		return "Unknown"
	case c.Field("status").Text() == "True":
		return "Healthy"
	}
	return "Unhealthy"
}

func showComponentCondition(r *row, field string) string {
	return condition(r.json.At("conditions"), "Healthy").Field(field).Text()
}
