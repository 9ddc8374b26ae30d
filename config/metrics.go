package config

// Metrics says where Prometheus can ask what the server does.
type Metrics struct {
	// Address and port of a listener for /metrics alone, such as 127.0.0.1:5102.
	// Empty: there is none.
	Listen string `mapstructure:"listen" form:"optional address"`

	// File with a token, of 16 bytes or more, that who asks for metrics must send, as
	// Authorization: Bearer. With it they are at /metrics beside everything else, too.
	// Empty: they are not, and the listener above asks for none.
	TokenFile string `mapstructure:"token_file"`
}
