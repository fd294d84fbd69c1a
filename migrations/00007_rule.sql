-- +goose Up

-- How the answer of a finished run is read off its machines' scores. Reports from
-- before there were several machines are of one, under the rule sign.
ALTER TABLE runs ADD COLUMN rule TEXT AS (CASE WHEN report IS NOT NULL THEN coalesce(report ->> '$.rule', 'sign') END);

-- +goose Down
ALTER TABLE runs DROP COLUMN rule;
