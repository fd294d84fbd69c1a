-- Rows as the fourth schema had them: a class that brings its points along, a run
-- made under it, and the copy of that run in its gallery.
INSERT INTO points (hash, csv) VALUES ('of the run', x'00'), ('of the class', x'00');
INSERT INTO classes (code, workspace, token, title, target, hidden, frozen, hash, data_name, closed, created) VALUES
  ('BCDFGH', 'teacher', 'secret', 'Monday', '/lab?kernel=rbf', '["C"]', '["gamma"]', 'of the class', 'Mine', 0, 1763780000000),
  ('KLMNPQ', 'teacher', 'other', 'Tuesday', '/lessons/margins?', '[]', '[]', NULL, '', 1, 1763780001000);
INSERT INTO runs (id, workspace, name, note, tags, dataset_name, hash, spec, axes, status, report, created, started, finished, class) VALUES
  ('own', 'student', 'mine', 'a note', '["a"]', 'Mine', 'of the run', '{"kernel":"rbf"}', '["",""]', 'done', '{"n":4}', 1763780002000, 1763780002000, 1763780003000, 'BCDFGH'),
  ('copy', 'class BCDFGH', 'Ada', '', '[]', 'Mine', 'of the run', '{"kernel":"rbf"}', '["",""]', 'done', '{"n":4}', 1763780004000, 1763780002000, 1763780003000, 'BCDFGH'),
  ('free', 'student', 'class work', '', '[]', 'Mine', 'of the run', '{"kernel":"rbf"}', '["",""]', 'done', '{"n":4}', 1763780005000, 1763780002000, 1763780003000, '');
INSERT INTO handins (run, class, workspace, source, name, number) VALUES ('copy', 'BCDFGH', 'student', 'own', 'Ada', 1);
