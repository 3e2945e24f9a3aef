package measure

// Curve is how one cost grows with the size of something.
type Curve struct {
	Name   string    `json:"name"`  // of its file, growth-<name>.svg
	Title  string    `json:"title"` // what costs
	Of     string    `json:"of"`    // what there is more and more of
	Series []*Series `json:"series"`
}

// Series is one line of a plot.
type Series struct {
	Name   string  `json:"name"` // empty if there is one line only
	Points []Point `json:"points"`
}

// Point is one measurement.
type Point struct {
	Size int     `json:"size"`
	CPU  float64 `json:"cpuMicrosecondsPerOperation"`
}

// Line finds the series of a name, or adds it.
func (c *Curve) Line(name string) *Series {
	for _, s := range c.Series {
		if s.Name == name {
			return s
		}
	}
	s := &Series{Name: name}
	c.Series = append(c.Series, s)
	return s
}
