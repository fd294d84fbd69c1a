"""Client of a Margin Lab server: one file, standard library only.

>>> lab = Lab(url, key)
>>> run = lab.fit("iris", learner="svm", C=10)
>>> run.status
'done'
>>> run.report["n"]
150
>>> model = run.model()
>>> [str(c) for c in model.predict([[5.1, 3.5, 1.4, 0.2]])]  # needs NumPy
['setosa']
"""

import json
import urllib.error
import urllib.parse
import urllib.request


class Problem(Exception):
    """What the server says is wrong: status, title, detail and errors."""

    def __init__(self, problem):
        super().__init__(problem.get("detail") or problem.get("title") or "no answer")
        self.status = problem.get("status")
        self.title = problem.get("title")
        self.errors = problem.get("errors", [])


class Figure:
    """A picture, which a notebook shows."""

    def __init__(self, svg):
        self.svg = svg

    def _repr_svg_(self):
        return self.svg


class Work:
    """A run, search or study on the server. Its fields are attributes."""

    def __init__(self, lab, path):
        self.lab, self.path, self.data = lab, path, {}

    def __getattr__(self, name):
        try:
            return self.__dict__["data"][name]
        except KeyError:
            raise AttributeError(name) from None

    def wait(self, progress=None):
        """Wait for the end; progress(work) is called about every second. A failure is a Problem."""
        query = f"?wait={1 if progress else 30}"
        if self.path.startswith("/api/searches/"):
            query += "&cells=none"
        while True:
            self.data = self.lab.get(self.path + query)
            if self.data["status"] in ("failed", "cancelled"):
                raise Problem({"title": self.data["status"], "detail": self.data.get("error") or self.data["status"]})
            if progress:
                progress(self)
            if self.data["status"] == "done":
                if "cells=none" in query:
                    self.data = self.lab.get(self.path)
                return self

    def figure(self, name, **options):
        """Return a figure of a run, such as "boundary"."""
        query = "?" + urllib.parse.urlencode(options) if options else ""
        return Figure(self.lab.request("GET", f"{self.path}/figures/{name}.svg{query}")[0].decode())

    def predict(self, rows):
        """Return the predictions for rows, lists of numbers, made on the server."""
        return self.lab.post(self.path + "/predictions", {"rows": [list(map(float, row)) for row in rows]})

    def model(self):
        """Return the model as a module with predict(X) and decision_function(X); needs NumPy."""
        import types

        module = types.ModuleType("model")
        exec(self.lab.request("GET", self.path + "/model.py")[0], module.__dict__)
        return module


class Lab:
    """A workspace of a server. Without a key it makes a new one: see key."""

    def __init__(self, url, key=None):
        self.url, self.key = url.rstrip("/"), key
        if key is None:
            self.key = self.post("/api/workspaces", {})["key"]

    def request(self, method, path, body=None, content="application/json"):
        """Send a request and return the body of the answer and its headers."""
        headers = {"Content-Type": content} if body is not None else {}
        if self.key:
            headers["Authorization"] = "Bearer " + self.key
        request = urllib.request.Request(self.url + path, data=body, method=method, headers=headers)
        try:
            with urllib.request.urlopen(request) as answer:
                return answer.read(), answer.headers
        except urllib.error.HTTPError as e:
            try:
                problem = json.loads(e.read())
            except ValueError:
                problem = {"status": e.code, "title": e.reason}
        raise Problem(problem)

    def get(self, path):
        return json.loads(self.request("GET", path)[0])

    def post(self, path, value):
        return json.loads(self.request("POST", path, json.dumps(value).encode())[0])

    def upload(self, file, name=None, **columns):
        """Upload a file and return its id. columns: label, features, missing, …

        file is a path, the bytes, or an address for a server that runs with --allow-url to fetch.
        """
        if isinstance(file, bytes):
            body = file
        elif str(file).startswith(("http://", "https://")):
            body, columns["url"] = b"", file
        else:
            name = name or str(file).replace("\\", "/").split("/")[-1]
            with open(file, "rb") as f:
                body = f.read()
        if name or "url" not in columns:
            columns["name"] = name or "data"
        query = urllib.parse.urlencode(columns)
        return json.loads(self.request("POST", "/api/datasets?" + query, body, "application/octet-stream")[0])["id"]

    def start(self, kind, **asked):
        """Start work of a kind (runs, searches, studies) and return it at once."""
        return Work(self, f"/api/{kind}/" + self.post("/api/" + kind, asked)["id"])

    def fit(self, dataset, name="", progress=None, **spec):
        """Train on a data set, by its id or the name of a built-in one, and return the run."""
        return self.start("runs", dataset=dataset, name=name, spec=spec).wait(progress)

    def run(self, id):
        """Return a run of the workspace once it has ended."""
        return Work(self, "/api/runs/" + id).wait()

    def search(self, dataset, grid, spec=None, progress=None, **options):
        """Search a grid of settings by cross-validation. options: folds, repeats, nested, seed, …"""
        return self.start("searches", dataset=dataset, grid=grid, spec=spec or {}, **options).wait(progress)

    def study(self, progress=None, **study):
        """Run a study, whose fields are those of POST /api/studies."""
        return self.start("studies", **study).wait(progress)

    def compare(self, *runs):
        """Compare runs side by side."""
        ids = ",".join(r.id if isinstance(r, Work) else r for r in runs)
        return self.get("/api/comparison?" + urllib.parse.urlencode({"runs": ids}))


class MarginClassifier:
    """A scikit-learn estimator that trains on the server and predicts locally; needs NumPy."""

    _estimator_type = "classifier"

    def __init__(self, lab=None, learner="svm", kernel="rbf", C=1.0, gamma="auto", spec=None):
        self.lab, self.learner, self.kernel, self.C, self.gamma, self.spec = lab, learner, kernel, C, gamma, spec

    def get_params(self, deep=True):
        return {name: getattr(self, name) for name in ("lab", "learner", "kernel", "C", "gamma", "spec")}

    def set_params(self, **params):
        for name, value in params.items():
            if name not in self.get_params():
                raise ValueError(f"unknown parameter {name}: expected one of {', '.join(self.get_params())}")
            setattr(self, name, value)
        return self

    def __sklearn_clone__(self):
        return type(self)(**self.get_params())  # the lab is shared

    def fit(self, X, y):
        import numpy as np

        X, y = np.asarray(X, dtype=float), np.asarray(y)
        self.classes_, numbers = np.unique(y, return_inverse=True)
        lines = [",".join([f"x{j + 1}" for j in range(X.shape[1])] + ["class"])]
        lines += [",".join([repr(float(v)) for v in row] + [f"c{k}"]) for row, k in zip(X, numbers)]
        spec = {"learner": self.learner, "kernel": self.kernel, **(self.spec or {})}
        if self.learner in ("svm", "mcm"):
            spec["C"] = self.C
        if self.kernel != "linear":
            spec["gamma"] = self.gamma
        data = self.lab.upload("\n".join(lines).encode() + b"\n", name="sklearn", label="class")
        self.run_ = self.lab.fit(data, **spec)
        self.model_ = self.run_.model()
        self.n_features_in_ = X.shape[1]
        return self

    def decision_function(self, X):
        return self.model_.decision_function(X)

    def predict(self, X):
        return self.classes_[[int(c[1:]) for c in self.model_.predict(X)]]

    def score(self, X, y):
        return float((self.predict(X) == y).mean())
