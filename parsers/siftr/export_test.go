package siftr

// WithoutVector makes d read as it does on a machine without vectorHex.
func (d *Decoder) WithoutVector() *Decoder {
	d.vector = false
	return d
}
