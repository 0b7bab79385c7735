-- The span that recorded the move, in the form of the header traceparent (W3C Trace Context); null: it was not traced. The
-- delivery continues the trace.
alter table webhook_outbox add column traceparent text;
