// Package web is the HTTP server without its pages: middleware, the mapping of errors to
// statuses, event streams, static files and metrics. It knows nothing of resources.
//
// # Who may see what
//
// There are no accounts. Access is by possession of one of five secrets, and nobody can tell
// who holds it. The first four have at least 80 random bits and cannot be guessed.
//
//   - The key of a workspace: read, change, download and delete everything in it. A browser
//     holds it as a cookie (HttpOnly, SameSite=Lax, over TLS Secure), a program sends it as
//     Authorization: Bearer. The store keeps only its SHA-256, so a copy of the database
//     opens no workspace.
//   - The token of a shared run, /shared/TOKEN: read that run, including its points, until
//     it is withdrawn.
//   - The token of a link, /l/TOKEN: one view of the lab with a copy of its points, until
//     it is deleted.
//   - The token of a teacher, /teach/TOKEN: read, close and delete the gallery of one course
//     with the names and runs submitted, and read its students' answers. The workspace that
//     created the course has the same access. Students' other runs stay private.
//   - The code of a course, six letters on a blackboard: the page that the teacher set up,
//     with its points, submitting, and answering questions: one answer per workspace and
//     round, up to 2000 workspaces, a limit that one person with many browsers can use up.
//     It reveals nothing that students did. It can be guessed by trying long enough, so
//     confidential points do not belong in a course.
//
// Tokens of shared runs, links and teachers are stored in the clear, so protect backups like the
// tokens. The operator of the server sees everything. Pages and pictures that need none of the
// five, such as lessons, are the same for everyone, and shared caches may store those marked
// so; all others are private to the browser.
//
// # What others can do
//
// Someone on the same network can use the server like any visitor: a workspace, training,
// uploads, all within limits (rates per workspace and address, sizes, quotas, one live request
// at a time, turns of the queue). Without TLS they can also eavesdrop: keys and tokens cross
// the network in the clear, and anyone who reads a key has the workspace. On an untrusted
// network use TLS, here (Server.UseTLS) or in a proxy. The server does not send HSTS, which
// would bind all ports of the host; a proxy can.
//
// Another site, in a visitor's browser, can only link here. Cross-site requests that change
// something are refused (Sec-Fetch-Site, Origin), the cookie is not sent with them, responses
// can be neither read nor framed, and our pages load nothing from elsewhere
// (Content-Security-Policy). Lesson demos below /embed are the exception: any site may frame
// them and show their pictures (Site.Framed). They are computed from built-in data, without a
// workspace or course, so clickjacking there moves a picture and nothing else. A site that
// points its own host name at our address (DNS rebinding) does not get the cookie of our name,
// and its requests are refused wherever the name is known not to be ours (Links.Answers):
// always if the server listens on loopback only, and on a network once --public-url or --host
// names the server. Without those, any name is accepted, and such a site can do through a
// visitor's browser what anyone on the network could do directly.
//
// The port of --nats-listen, for workers on other machines, requires the token in the data
// directory, 128 random bits readable only by the directory's owner; others learn that a NATS
// server is running. The token allows what workers do and no more: take cells, read the plans and
// points of searches handed out within the last hour (even if deleted since), and send results,
// which are trusted, so workers should be the operator's own machines. It opens no page,
// workspace or other data and starts no search. With --tls-cert token and points travel over
// TLS, which is then required; a worker sends its token only to a server whose certificate is
// verified by the system's roots or --nats-ca. Without --tls-cert they travel in the clear: on
// an untrusted network use a certificate, a tunnel, or an external NATS server with TLS (--nats
// tls://...) and an account of its own. A remote address is never dialled without a token or
// credentials.
//
// Proxy headers (X-Forwarded-For, -Proto, -Host) are trusted only from --trusted-proxy; from
// others they affect neither limits nor links nor cookies.
//
// Visitors' text and files are data: escaped in pages, bounded in size and work, never executed,
// never used as a path. The policy above protects pages even if escaping fails.
//
// The log holds times, routes, statuses and client addresses; no key, token, code, name or
// content, and no page address, not even a mistyped one. The metrics hold routes and counts;
// they reveal how busy the server is, which --metrics-addr hides from visitors.
//
// Out of scope: anyone with access to the machine or its files; many clients at many addresses
// that together exceed its capacity; a key given away or left in a shared browser. Keys cannot
// be revoked, but the contents of a workspace can be downloaded, deleted and imported into a
// new one.
package web
