//go:build load

package browser

// kills is how often TestKills ends the server. Run it on an idle machine:
//
//	go test -tags load -run TestKills -v ./handlers/browser
const kills = 200
