// Made by `make reference` from the code of the server; change that, not this file.

/** Calls, the newest first. */
export interface ActivityResponse {
  /** What goes wrong is told as a problem instead. */
  success: boolean;
  /** As many as were wanted. */
  calls: GlimpseView[];
  /** How many there are in all, where that was asked; 100,000 stands for more, too. */
  matching_count: number | null;
}

/** Whole hours or days, in UTC, and all that happened in them in this project. */
export interface AnalyticsResponse {
  /** What goes wrong is told as a problem instead. */
  success: boolean;
  /** When the first bucket begins. */
  starts_at: string;
  /** When the last bucket ends. */
  ends_at: string;
  /** How long each is. */
  bucket: Bucket;
  /** All decisions taken together. */
  totals: OutcomesView;
  /** The same, bucket by bucket. */
  decisions: DecisionPoint[];
  /** How many questions wait for an answer now. */
  waiting: number;
  /** How long people took to answer. */
  waits: WaitsView;
  /** The same, bucket by bucket. */
  wait_points: WaitPoint[];
  /** Why calls ran without asking, the most frequent reason first; at most 20. */
  passes: PassView[];
  /** What people were asked about most, at most 12 classes. */
  asked: AskedView[];
  /** What went wrong, the most frequent first; at most 30. */
  errors: ErrorView[];
  /** What was used of the daily budget. */
  tokens: TokensView;
}

/** To everyone: a question waits for an answer, from any screen. */
export interface ApprovalRequest {
  /** The id of the question, `apr_…`. */
  approval_id: string;
  /** The call it is about. */
  tool_id: string;
  /** The tool. */
  tool_name: string;
  /** Its parameters, with secrets masked. */
  tool_params: Record<string, unknown>;
  /** How many parts of an open question are masked or cut off here. It can be approved only in full: see `/approvals/{approval_id}/unmasked`. */
  masked: number;
  /** What would happen, in one sentence. */
  description: string;
  /** How risky it was judged to be. */
  risk_level: string;
  /** Why, in words. */
  reasons: string[];
  /** The agent's own claim, not a fact. */
  reasoning: string | null;
  /** What else to know before deciding. */
  notes: string[];
  /** A diff of what would change, or the commands and the files they are bound to. */
  evidence: string;
  /** The ways to say yes. */
  offers: OfferView[];
  /** Whether a screen should ask twice before it approves. */
  needs_second_step: boolean;
  /** Who asks. */
  agent_id: string;
  /** The name of the agent, as given with its token; null if it has none. */
  agent_name: string | null;
  /** The name of the machine, as on the Machines page; null if there is none. */
  client_name: string | null;
  /** The parameters that a person may change. */
  editable: string[];
  /** The person who changed the call before it was approved; null if none did. */
  revised_by: string | null;
  /** When it was changed last. */
  revised_at: string | null;
  /** A diff of the changed parameters, from what the agent asked, with secrets masked. */
  revision: string | null;
  /** In which session. */
  session_id: string;
  /** How long there is to answer. */
  timeout_seconds: number;
  /** Until when. */
  expires_at: string;
  /** What a yes is bound to: words, plan and facts. */
  digest: string;
  /** `pending`, or how it ended: `approved`, `rejected`, `expired`, `withdrawn`. */
  status: string;
  /** How long calls of its class have taken. */
  estimated_duration_ms: number | null;
  /** Who answered. */
  decided_by: string | null;
  /** When. */
  decided_at: string | null;
  /** From which screen. */
  channel: string | null;
  /** How far the yes reaches. */
  scope: string | null;
  /** Why not. */
  reason: string | null;
  /** The grant that came of it. */
  grant_id: string | null;
  /** When it was put, in UTC. */
  timestamp: string;
}

/** To everyone, so that other screens can take the card away. */
export interface ApprovalResolved {
  /** The question. */
  approval_id: string;
  /** From which screen. */
  channel: string | null;
  /** When. */
  decided_at: string | null;
  /** Who answered. */
  decided_by: string | null;
  /** Why not. */
  reason: string | null;
  /** How far the yes reaches. */
  scope: string | null;
  /** How it ended: `approved`, `rejected`, `expired`, `withdrawn`. */
  status: string;
  /** When it happened, in UTC. */
  timestamp: string;
  /** The call. */
  tool_id: string;
}

export type ApprovalStatus = "pending" | "approved" | "rejected" | "expired" | "withdrawn";

/** A question as people see it: the card and, once there is one, the answer. */
export interface ApprovalView {
  /** The id of the question, `apr_…`. */
  approval_id: string;
  /** The call it is about. */
  tool_id: string;
  /** The tool. */
  tool_name: string;
  /** Its parameters, with secrets masked. */
  tool_params: Record<string, unknown>;
  /** How many parts of an open question are masked or cut off here. It can be approved only in full: see `/approvals/{approval_id}/unmasked`. */
  masked: number;
  /** What would happen, in one sentence. */
  description: string;
  /** How risky it was judged to be. */
  risk_level: string;
  /** Why, in words. */
  reasons: string[];
  /** The agent's own claim, not a fact. */
  reasoning: string | null;
  /** What else to know before deciding. */
  notes: string[];
  /** A diff of what would change, or the commands and the files they are bound to. */
  evidence: string;
  /** The ways to say yes. */
  offers: OfferView[];
  /** Whether a screen should ask twice before it approves. */
  needs_second_step: boolean;
  /** Who asks. */
  agent_id: string;
  /** The name of the agent, as given with its token; null if it has none. */
  agent_name: string | null;
  /** The name of the machine, as on the Machines page; null if there is none. */
  client_name: string | null;
  /** The parameters that a person may change. */
  editable: string[];
  /** The person who changed the call before it was approved; null if none did. */
  revised_by: string | null;
  /** When it was changed last. */
  revised_at: string | null;
  /** A diff of the changed parameters, from what the agent asked, with secrets masked. */
  revision: string | null;
  /** In which session. */
  session_id: string;
  /** How long there is to answer. */
  timeout_seconds: number;
  /** Until when. */
  expires_at: string;
  /** What a yes is bound to: words, plan and facts. */
  digest: string;
  /** `pending`, or how it ended: `approved`, `rejected`, `expired`, `withdrawn`. */
  status: string;
  /** How long calls of its class have taken. */
  estimated_duration_ms: number | null;
  /** Who answered. */
  decided_by: string | null;
  /** When. */
  decided_at: string | null;
  /** From which screen. */
  channel: string | null;
  /** How far the yes reaches. */
  scope: string | null;
  /** Why not. */
  reason: string | null;
  /** The grant that came of it. */
  grant_id: string | null;
}

export interface ApprovalsResponse {
  /** What goes wrong is told as a problem instead. */
  success: boolean;
  /** The questions. */
  approvals: ApprovalView[];
  /** How many there are in this answer. */
  total_count: number;
  /** What time it is for the server, to count down by. */
  now: string;
}

/** A yes: for this call alone, for its class (in the session or the project), or for all. */
export interface ApproveRequest {
  /** Said in full, so that nothing is approved by accident. */
  decision: "approved";
  /** How far the yes reaches: this call, its class in this session, its class in every session of this agent in the project, or all of the session. */
  scope?: Scope;
  /** With a wider scope: for so many further calls. */
  uses?: number | null;
  /** With a wider scope: for so long, at most 7 days. With scope `project`: at most 365 days, 30 days if not set. */
  expires_in_seconds?: number | null;
  /** The digest of the card that was seen; with another one by now, it is no yes. */
  digest?: string | null;
  /** From which screen. */
  channel?: string;
}

/** A new survey of an approved call, with the epoch under which the call was offered. */
export interface AskAgainRequest {
  /** What the machine holds now, for the digest. */
  facts?: Record<string, unknown> | null;
  /** Further reasons for concern. */
  findings?: FindingView[];
  /** A diff, or the commands and the files that they run. */
  evidence?: string;
  /** Whether the evidence is in full, as the request to look asked for. */
  unmasked?: boolean;
  /** The title of the card, where the machine knows more than the call says. */
  summary?: string;
  /** Whether the call would change nothing while the facts hold. */
  changes_nothing?: boolean;
  /** True if a rehearsal has shown all that the call would change. */
  rehearsed?: boolean;
  /** Instead of facts: this machine would not do it. */
  refused?: RefusalView | null;
  /** The epoch of the signal. */
  epoch: number;
}

/** A class of calls; those without a class are taken together, tool by tool. */
export interface AskedView {
  /** The class in words, if they have one. */
  class_words: string | null;
  /** The tool. */
  tool_name: string;
  /** How risky the latest one was. */
  risk_level: string | null;
  /** How many questions have ended. */
  asked: number;
  /** Questions that a person said yes to. */
  approved: number;
  /** Questions that a person said no to. */
  refused: number;
  /** Questions that were not answered in time. */
  expired: number;
  /** The rule that refuses these without asking; null where none can say so. */
  refusal: RuleTextView | null;
}

export interface AuditResponse {
  /** What goes wrong is told as a problem instead. */
  success: boolean;
  /** The lines. */
  entries: AuditView[];
}

export interface AuditView {
  /** The number of the line; there are no gaps. */
  seq: number;
  /** When. */
  at: string;
  /** What happened. */
  action: string;
  /** Who did it. */
  actor: string;
  /** What it was done to. */
  subject: string;
  /** More about it, as a JSON text. */
  details: string;
  /** The hash of the line before. */
  previous: string;
  /** The hash of this line. */
  hash: string;
}

/** How much an agent may do unasked. */
export type Autonomy = "read_only" | "draft" | "supervised" | "full";

/** How much agents of this project may do without asking. */
export interface AutonomyRequest {
  /** For all calls from now on, except in conversations with a setting of their own. Policy files can only lower it. */
  autonomy: Autonomy;
}

export interface AutonomyResponse {
  /** What goes wrong is told as a problem instead. */
  success: boolean;
  /** The setting of the project. */
  autonomy: Autonomy;
  /** The same in words. */
  meaning: string;
}

/** One call of several. */
export interface BatchCall {
  /** The tool, by its name or an alias of it. */
  tool_name: string;
  /** Its parameters, as the tool's schema says. */
  tool_params: Record<string, unknown>;
  /** Chosen by the asker; asking again with the same one is the same call. */
  call_id: string;
  /** Why the agent wants it; shown to people as its claim. */
  reasoning?: string | null;
}

/** One call of a batch: its execution, or in words why there is none. */
export interface BatchPart {
  /** The id the asker gave it. */
  call_id: string;
  /** The call. */
  execution: ExecutionView | null;
  /** Why there is none. */
  error: string | null;
}

/** Several calls: side by side or, as a `chain`, each with what those before it gave back. In a chain, a parameter that is just `${1.content}` stands for that field of the first call's result. */
export interface BatchRequest {
  /** The conversation or run they belong to. */
  session_id: string;
  /** The calls, in order. */
  calls: BatchCall[];
  /** Whether each waits for the one before, and may use its result. */
  chain?: boolean;
  /** Seconds to wait for their ends before answering. */
  wait?: number;
}

/** `success` is true when every call has completed and succeeded. */
export interface BatchResponse {
  /** Whether every call has completed and succeeded. */
  success: boolean;
  /** One for each call, in the same order. */
  results: BatchPart[];
  /** How many there are in this answer. */
  total_count: number;
}

/** A blob that lies ready: `{"blob": …, "size": …}` stands for it in parameters and results. */
export interface BlobResponse {
  /** What goes wrong is told as a problem instead. */
  success: boolean;
  /** The SHA-256 of the content. */
  blob: string;
  /** Its bytes. */
  size: number;
}

export type Bucket = "hour" | "day";

export interface BudgetResponse {
  /** The day in UTC, such as `2026-11-17`. */
  day: string;
  /** What the person's agents have used on it, in and out. */
  used_tokens: number;
  /** What the models were told, cached tokens included. */
  input_tokens: number;
  /** What the models said. */
  output_tokens: number;
  /** What the providers had kept of what they were told. */
  cached_tokens: number;
  /** What may be used; null where nothing is said. */
  limit_tokens: number | null;
  /** How much of the limit is used; 1.0 is all of it. */
  share: number | null;
  /** Whether 80 % of the limit are reached. */
  near: boolean;
  /** Whether all of it is used, so that no model is asked. */
  exhausted: boolean;
  /** What goes wrong is told as a problem instead. */
  success: boolean;
}

export interface BudgetView {
  /** The day in UTC, such as `2026-11-17`. */
  day: string;
  /** What the person's agents have used on it, in and out. */
  used_tokens: number;
  /** What the models were told, cached tokens included. */
  input_tokens: number;
  /** What the models said. */
  output_tokens: number;
  /** What the providers had kept of what they were told. */
  cached_tokens: number;
  /** What may be used; null where nothing is said. */
  limit_tokens: number | null;
  /** How much of the limit is used; 1.0 is all of it. */
  share: number | null;
  /** Whether 80 % of the limit are reached. */
  near: boolean;
  /** Whether all of it is used, so that no model is asked. */
  exhausted: boolean;
}

/** What a machine says about one call that it was asked to undo. */
export interface CallAnswer {
  /** The call. */
  tool_id: string;
  /** `undone`; `undone_before`; `refused`: a file was changed since; `not_tried`: a later call was refused; `not_kept`: the machine does not keep its earlier files. */
  status: UndoStatus;
  /** Why it was not undone. */
  reason?: string;
}

/** What became of the request to undo one call. */
export interface CallUndone {
  /** The call. */
  tool_id: string;
  /** The tool. */
  tool_name: string;
  /** `undone`; `undone_before`; `refused`: a file was changed since; `not_tried`: a later call was refused; `not_kept`: the machine does not keep its earlier files. */
  status: string;
  /** Why it was not undone; empty where it was. */
  reason: string;
  /** The files that the call had changed. */
  files: string[];
  /** When it was undone. */
  undone_at: string | null;
  /** The person who asked for it. */
  undone_by: string | null;
}

/** To the client that has the call; whatever runs for it is to end. */
export interface Cancel {
  /** Why. */
  message: string;
  /** When it happened, in UTC. */
  timestamp: string;
  /** The call. */
  tool_id: string;
}

/** Why the call shall end; the reason reaches the agent. */
export interface CancelRequest {
  /** Why. */
  reason?: string | null;
  /** From which screen. */
  channel?: string;
}

export interface ChannelHealth {
  /** `console`: browsers. `terminal`: screens and programs with a user's token. `client`: machines, which may ask their person. */
  name: string;
  /** Whether a question reaches a listener. */
  state: "open" | "idle";
  /** How many streams are open. */
  listeners: number;
}

/** To people: a further piece of what the agent is saying. It has no number. The whole of it comes as `chat.message`. */
export interface ChatDelta {
  /** The run. */
  run_id: string;
  /** The number of the message that it will be part of. */
  seq: number;
  /** The conversation. */
  session_id: string;
  /** The piece. */
  text: string;
  /** When it was sent, in UTC. */
  timestamp: string;
}

/** To people: something was said in a conversation, by whom ever. */
export interface ChatMessage {
  /** Its id. */
  message_id: string;
  /** The conversation. */
  session_id: string;
  /** The run it belongs to. */
  run_id: string;
  /** Its place in the conversation, from 1. */
  seq: number;
  /** Who says it. */
  role: "user" | "assistant" | "tool" | "handrail";
  /** What is said. */
  parts: PartView[];
  /** The model that said it. */
  model: string | null;
  /** What it cost, by the provider's own count. */
  tokens: number | null;
  /** When, in UTC. */
  timestamp: string;
}

/** To people: a run has begun or ended. */
export interface ChatRun {
  /** Its id. */
  run_id: string;
  /** The conversation. */
  session_id: string;
  /** `running`, `done`, `failed` or `stopped`. */
  status: string;
  /** Why it failed, or who stopped it. */
  error: string | null;
  /** When it began, in UTC. */
  created_at: string;
  /** When it ended, in UTC. */
  ended_at: string | null;
  /** When it happened, in UTC. */
  timestamp: string;
}

/** The epoch under which the call was offered, and a key that only this process knows. With the same key the claim can be repeated, also by the next life of the process. */
export interface ClaimRequest {
  /** The epoch of the signal. */
  epoch: number;
  /** Chosen by the client for this call. */
  key: string;
}

export interface ClaimResponse {
  /** What goes wrong is told as a problem instead. */
  success: boolean;
  /** The call. */
  tool_id: string;
  /** Its state: `executing`, and yours. */
  status: string;
  /** The epoch under which to report. */
  epoch: number;
}

export interface ClientView {
  /** The machine's client, `cli_…`. */
  client_id: string;
  /** What it is called. */
  name: string;
  /** The folder it executes in. */
  workspace_id: string;
  /** The machine where that folder lies. */
  machine: string;
  /** Its path there. */
  root: string;
  /** What is proven to keep commands in there. */
  walls: Wall[];
  /** Whether that is enough for a command to run without asking. */
  boxed: boolean;
  /** When it was registered. */
  registered_at: string;
  /** Whether its stream is open and its lease holds. */
  connected: boolean;
  /** When it left; null while it is here, and where it has not been since the server started. */
  left_at: string | null;
}

export interface ClientsResponse {
  /** What goes wrong is told as a problem instead. */
  success: boolean;
  /** The machines. */
  clients: ClientView[];
  /** How many there are in this answer. */
  total_count: number;
}

export interface ConfigResponse {
  /** What goes wrong is told as a problem instead. */
  success: boolean;
  /** All settings there are. */
  settings: SettingView[];
  /** How many there are in this answer. */
  total_count: number;
  /** Why the file cannot be read, where it cannot; what held before holds then. */
  trouble: string | null;
  /** Names in the file that mean nothing. */
  unknown: string[];
}

export interface DecisionPoint {
  /** Calls that passed without a question. */
  auto_approved: number;
  /** Questions that a person said yes to. */
  approved: number;
  /** Questions that a person said no to. */
  refused: number;
  /** Questions that were not answered in time. */
  expired: number;
  /** Calls that the rules turned away. */
  denied: number;
  /** Calls refused because their agent had too many open questions. */
  over_limit: number;
  /** When the bucket begins. */
  at: string;
}

export interface DecisionResponse {
  /** What goes wrong is told as a problem instead. */
  success: boolean;
  /** The question. */
  approval_id: string;
  /** What came of it: the state of the question or, for facts, of the call. */
  status: string;
}

/** One draft that has at least one step. */
export interface DraftBody {
  /** The session that has it. */
  session_id: string;
  /** The number of its steps. */
  steps: number;
  /** How many files it changes. */
  files: number;
  /** How large they are now. */
  bytes: number;
  /** When its first step was made. */
  began_at: string;
  /** When it was last used. */
  last_at: string;
  /** When it expires unless it is used before. */
  expires_at: string;
  /** Why it cannot be read; empty if it can. */
  trouble?: string;
}

/** To people: the draft of a session was listed, has changed or is no longer listed. It has no number; after a break, list the drafts. */
export interface DraftChanged {
  /** The session. */
  session_id: string;
  /** When it happened, in UTC. */
  timestamp: string;
}

/** A draft on a machine that is connected. */
export interface DraftView {
  /** The session that has it. */
  session_id: string;
  /** Who opened the session. */
  agent_id: string;
  /** The name of the agent, as given with its token; null if it has none. */
  agent_name: string | null;
  /** The machine that has it. */
  client_id: string;
  /** The name of the machine, as on the Machines page; null if there is none. */
  client_name: string | null;
  /** The folder that it is a draft of. */
  workspace: string;
  /** The number of its steps. */
  steps: number;
  /** How many files it changes. */
  files: number;
  /** How large they are now. */
  bytes: number;
  /** When its first step was made. */
  began_at: string;
  /** When it was last used. */
  last_at: string;
  /** When it expires unless it is used before. */
  expires_at: string;
  /** Whether that is within two days. */
  expires_soon: boolean;
  /** Why it cannot be read; empty if it can. */
  trouble: string;
}

export interface DraftsReceipt {
  /** What goes wrong is told as a problem instead. */
  success: boolean;
}

/** All drafts of the client's workspace, and those that have expired since it last told. */
export interface DraftsRequest {
  /** The drafts. */
  drafts: DraftBody[];
  /** Those that have expired. */
  expired?: ExpiredBody[];
}

export interface DraftsResponse {
  /** The drafts, the one that was used last first. */
  drafts: DraftView[];
  /** What time it is for the server. */
  now: string;
}

export interface EditableResponse {
  /** What goes wrong is told as a problem instead. */
  success: boolean;
  /** The question. */
  approval_id: string;
  /** The parameters that a person may change, with nothing masked. */
  tool_params: Record<string, unknown>;
  /** What to send back with the changes. */
  digest: string;
}

/** What holds in one workspace when all layers are taken together. */
export interface EffectiveView {
  /** The folder. */
  workspace_id: string;
  /** Where it lies. */
  root: string;
  /** The freedom an agent has there. */
  autonomy: Autonomy;
  /** Whether commands without a row are refused, or asked about. */
  unlisted: string;
}

/** Why an execution FAILED. */
export type ErrorType = "validation" | "denied" | "too_many_questions" | "stale" | "cancelled" | "no_client" | "execution" | "execution_timeout" | "outcome_unknown" | "internal";

export interface ErrorView {
  /** Who was to do it; null where it did not come that far. */
  executor: "client" | "server" | null;
  /** Which machine, if it was one. */
  client_id: string | null;
  /** What that machine is called. */
  client_name: string | null;
  /** The tool. */
  tool_name: string;
  /** What kind of failure it was. */
  error_type: string;
  /** How many calls. */
  calls: number;
}

/** One tool call. */
export interface ExecuteRequest {
  /** The tool, by its name or an alias of it. */
  tool_name: string;
  /** Its parameters, as the tool's schema says. */
  tool_params: Record<string, unknown>;
  /** Chosen by the asker; asking again with the same one is the same call. */
  call_id: string;
  /** Why the agent wants it; shown to people as its claim. */
  reasoning?: string | null;
  /** The conversation or run it belongs to; its first call creates it. */
  session_id: string;
  /** Seconds to wait for the end before answering. */
  wait?: number;
}

/** Why a call may be executed. */
export interface ExecutionContext {
  /** Always true. */
  approved: boolean;
  /** A person's name, a grant, or `policy`. */
  approved_by: string;
  /** The freedom the agent had. */
  autonomy: string;
  /** Whether a person made the call, and no agent. */
  by_person: boolean;
  /** How far that yes reached. */
  scope: string;
}

/** To the one client that shall execute. A signal that is replayed after a break never executes anything; what still has to be done is offered anew. */
export interface ExecutionSignal {
  /** What was judged, shown and approved. */
  digest: string;
  /** Counts how often it was handed out; report under it. */
  epoch: number;
  /** Why it may be executed. */
  execution_context: ExecutionContext;
  /** It was told before, or is no longer what counts: do nothing. */
  replayed: boolean;
  /** What it was judged to be. */
  risk_level: string;
  /** The project's, to make the digest with. */
  salt: string;
  /** The session. */
  session_id: string;
  /** A change that is `executing` was begun by this client in another life. */
  status: string;
  /** Whether the digest covers what the machine was seen to hold. */
  surveyed: boolean;
  /** When it happened, in UTC. */
  timestamp: string;
  /** The call. */
  tool_id: string;
  /** The tool. */
  tool_name: string;
  /** The parameters as they were sent; null where it is replayed. */
  tool_params: unknown;
}

/** One call as those who may see it see it. */
export interface ExecutionView {
  /** The id of the call, `exe_…`. */
  tool_id: string;
  /** The tool. */
  tool_name: string;
  /** `pending`, `awaiting_approval`, `approved`, `executing`, or an end: `completed`, `failed`, `rejected`, `timeout`. */
  status: string;
  /** What the tool gave back; `output` is the text for a model. */
  result: Record<string, unknown> | null;
  /** Why it did not succeed, in words. */
  error: string | null;
  /** What kind of failure it was. */
  error_type: string | null;
  /** The question that was put to people, if there was one. */
  approval_id: string | null;
  /** The parameters, with secrets masked. */
  tool_params: Record<string, unknown>;
  /** How risky it was judged to be. */
  risk_level: string;
  /** Why, in words. */
  reasons: string[];
  /** Whether a person had to be asked. */
  requires_approval: boolean;
  /** Who said yes: a person, a grant, or the policy. */
  approved_by: string | null;
  /** How far that yes reached: `once`, `class` or `session`. */
  scope: string | null;
  /** The session it belongs to. */
  session_id: string;
  /** The id the asker gave it. */
  call_id: string;
  /** Who asked. */
  agent_id: string;
  /** The name of the agent, as given with its token; null if it has none. */
  agent_name: string | null;
  /** The agent's own claim, not a fact. */
  reasoning: string | null;
  /** The exit code of a command that ran to its end; null for other calls. */
  exit_code: number | null;
  /** How long the machine took. */
  execution_time_ms: number | null;
  /** What the machine reported after the call had ended. */
  late_result: Record<string, unknown> | null;
  /** Parameters that came out of an earlier call's result, and of which. */
  origins: Record<string, string> | null;
  /** Text in the result that looks like instructions to the agent: `source`, `score` and `findings`; null where nothing does. */
  suspicion: Record<string, unknown> | null;
  /** When it was asked for. */
  created_at: string;
  /** When it was let pass. */
  approved_at: string | null;
  /** When a machine began. */
  started_at: string | null;
  /** When it ended. */
  completed_at: string | null;
  /** When its result was removed, as the retention settings say; the result is null from then on. */
  result_removed_at: string | null;
  /** Whether a person can undo it, as far as the server knows. */
  can_undo: boolean;
  /** Why it cannot be undone, in a few words; null where it can be, or was. */
  why_not_undo: string | null;
  /** When its changes were undone. */
  undone_at: string | null;
  /** The person who asked for that. */
  undone_by: string | null;
  /** The person who changed the call before it was approved; null if none did. */
  revised_by: string | null;
  /** When it was changed last. */
  revised_at: string | null;
  /** A diff of the changed parameters, from what the agent asked, with secrets masked. */
  revision: string | null;
}

export interface ExecutionsResponse {
  /** What goes wrong is told as a problem instead. */
  success: boolean;
  /** The calls. */
  executions: ExecutionView[];
  /** How many there are in this answer. */
  total_count: number;
}

/** A draft that was not used for too long, and is in a patch now. */
export interface ExpiredBody {
  /** The session that had it. */
  session_id: string;
  /** The number of its steps. */
  steps: number;
  /** How many files it changed. */
  files: number;
  /** The file of the patch on that machine. */
  patch: string;
}

/** A call as an agent would ask for it, and where; with the project's autonomy unless said. */
export interface ExplainRequest {
  /** The tool, by its name or an alias of it. */
  tool_name: string;
  /** Its parameters. */
  tool_params: Record<string, unknown>;
  /** Judge as in this session's folder. */
  session_id?: string | null;
  /** Judge as in this folder. */
  workspace_id?: string | null;
  /** Judge as if the agent had this much freedom. */
  autonomy?: Autonomy | null;
}

/** What would be said to the call, by its words alone; a look at the machine may add to it. */
export interface ExplainResponse {
  /** What goes wrong is told as a problem instead. */
  success: boolean;
  /** The tool, by its own name. */
  tool_name: string;
  /** What would happen, in one sentence. */
  description: string;
  /** What an approval of its class would cover, where it could have one. */
  class_words: string | null;
  /** Runs at once, is tried first where it can change nothing, asks a person, or is refused. */
  ruling: Ruling;
  /** How risky it is. */
  risk_level: string;
  /** Why, in words. */
  reasons: string[];
  /** Why, with the rules. */
  findings: ExplainedFinding[];
  /** What would really happen. */
  plan: PlanView;
  /** How long a person would have to answer. */
  timeout_seconds: number;
  /** Whether a person may have to be asked. */
  requires_approval: boolean;
  /** The freedom it was judged with. */
  autonomy: Autonomy;
  /** The folder it was judged in. */
  workspace_id: string | null;
}

export interface ExplainedFinding {
  /** The id of the rule. */
  rule: string;
  /** Whose rule it is. */
  layer: "shipped" | "operator" | "project";
  /** How bad it is. */
  risk_level: string;
  /** Why, in words. */
  reason: string;
}

/** What a client has seen: the facts, or why it would not do it at all. */
export interface FactsRequest {
  /** What the machine holds now, for the digest. */
  facts?: Record<string, unknown> | null;
  /** Further reasons for concern. */
  findings?: FindingView[];
  /** A diff, or the commands and the files that they run. */
  evidence?: string;
  /** Whether the evidence is in full, as the request to look asked for. */
  unmasked?: boolean;
  /** The title of the card, where the machine knows more than the call says. */
  summary?: string;
  /** Whether the call would change nothing while the facts hold. */
  changes_nothing?: boolean;
  /** True if a rehearsal has shown all that the call would change. */
  rehearsed?: boolean;
  /** Instead of facts: this machine would not do it. */
  refused?: RefusalView | null;
  /** The epoch of the request to look. */
  epoch?: number | null;
}

export interface FindingView {
  /** The id of the rule that noticed. */
  rule: string;
  /** Why, in words. */
  reason: string;
  /** How bad it is. */
  risk: string;
}

export interface ForgetResponse {
  /** What goes wrong is told as a problem instead. */
  success: boolean;
  /** The key under which nothing is remembered any more. */
  key: string;
}

/** A call without what can be large; the whole of it is at `/tools/{tool_id}`. */
export interface GlimpseView {
  /** Its place among all calls, for `before` and `after`. */
  mark: string;
  /** The id of the call, `exe_…`. */
  tool_id: string;
  /** The tool. */
  tool_name: string;
  /** What a person was asked, where one was. */
  description: string | null;
  /** The parameters, with secrets masked and long values cut short. Of very long ones, only those that say what the call is about. */
  tool_params: Record<string, unknown>;
  /** The state of the call. */
  status: string;
  /** How risky it was judged to be. */
  risk_level: string;
  /** Whether a person had to be asked. */
  requires_approval: boolean;
  /** The question that was put to people. */
  approval_id: string | null;
  /** Who said yes: a person, a grant, or the policy. */
  approved_by: string | null;
  /** The person who approved or refused it. */
  decided_by: string | null;
  /** How far that yes reached. */
  scope: string | null;
  /** The session it belongs to. */
  session_id: string;
  /** The id the asker gave it. */
  call_id: string;
  /** Who asked. */
  agent_id: string;
  /** The name of the agent, as given with its token; null if it has none. */
  agent_name: string | null;
  /** The machine that has or had it. */
  client_id: string | null;
  /** The name of the machine, as on the Machines page; null if there is none. */
  client_name: string | null;
  /** Why it did not succeed, cut short. */
  error: string | null;
  /** What kind of failure it was. */
  error_type: string | null;
  /** The exit code of a command that ran to its end; null for other calls. */
  exit_code: number | null;
  /** How long the machine took. */
  execution_time_ms: number | null;
  /** When it was asked for. */
  created_at: string;
  /** When it was let pass. */
  approved_at: string | null;
  /** When a machine began. */
  started_at: string | null;
  /** When it ended. */
  completed_at: string | null;
  /** Whether a person can undo it, as far as the server knows. */
  can_undo: boolean;
  /** When its changes were undone. */
  undone_at: string | null;
  /** The person who asked for that. */
  undone_by: string | null;
}

export interface GrantView {
  /** The id of the grant, `grt_…`. */
  grant_id: string;
  /** The session it was given in; with scope `class` or `session`, it holds there. */
  session_id: string;
  /** `class`, `project` or `session`. */
  scope: string;
  /** The agent whose calls it lets pass. */
  agent_id: string | null;
  /** The name of the agent, as given with its token; null if it has none. */
  agent_name: string | null;
  /** What it lets pass. */
  words: string;
  /** Nothing riskier passes. */
  max_risk: string;
  /** For how many further calls; null for any number. */
  uses_left: number | null;
  /** Until when; null for the rest of the session. */
  expires_at: string | null;
  /** True if its session has made no call for 12 hours; it still counts. */
  idle: boolean;
  /** The latest call of its session in the last 12 hours. */
  last_call_at: string | null;
  /** The question it came of. */
  approval_id: string;
  /** Who gave it. */
  granted_by: string;
  /** When it was given. */
  created_at: string;
  /** When it was taken back. */
  revoked_at: string | null;
}

export interface GrantsResponse {
  /** What goes wrong is told as a problem instead. */
  success: boolean;
  /** The grants. */
  grants: GrantView[];
  /** How many there are in this answer. */
  total_count: number;
}

export interface HealthResponse {
  /** `degraded` while nothing can be stored; the status code is 503 then. */
  status: "ok" | "degraded";
  /** What is wrong, and what to do about it. */
  problem: string | null;
  /** Which Handrail it is. */
  version: string;
  /** Which version of these bodies and events it speaks. */
  wire_version: string;
  /** How many machines listen. */
  connected_clients: number;
  /** The ways to reach a person. */
  channels: ChannelHealth[];
}

export interface HeartbeatResponse {
  /** What goes wrong is told as a problem instead. */
  success: boolean;
  /** Whether the client counts as connected. If not, it must open its stream again. */
  connected: boolean;
}

/** One file: how many rows of each kind, its settings, and the rows themselves. */
export interface LayerView {
  /** Whose file it is. */
  layer: "shipped" | "operator" | "project";
  /** Which file it is. */
  source: string;
  /** For a project's file: the folder it lies in. */
  workspace_id: string | null;
  /** How many rows of each kind. */
  counts: Record<string, number>;
  /** The most freedom it leaves an agent. */
  autonomy: Autonomy | null;
  /** Whether commands without a row are refused, or asked about. */
  unlisted: string | null;
  /** Settings that have no effect, and why. */
  notes: string[];
  /** The rows. */
  rules: RuleView[];
}

/** Whom the link signs in: you, unless it names an approver. */
export interface LinkRequest {
  /** The name of an approver of this project. */
  approver?: string | null;
}

export interface LinkResponse {
  /** What goes wrong is told as a problem instead. */
  success: boolean;
  /** Good once; put it behind the address and a `#`. */
  link: string;
  /** Until when. */
  expires_at: string;
}

/** Whether a link was used; all three are null while it was not. */
export interface LinkStateResponse {
  /** What goes wrong is told as a problem instead. */
  success: boolean;
  /** When a browser signed in with it. */
  used_at: string | null;
  /** That browser, as it describes itself. */
  used_by: string | null;
  /** The token that browser has got. */
  token_id: string | null;
}

export interface MemoriesResponse {
  /** What goes wrong is told as a problem instead. */
  success: boolean;
  /** Those that fit, best first; without a question, the ones changed last first. */
  memories: MemoryView[];
  /** How many there are in this answer. */
  total_count: number;
  /** Why memories are found by their words alone, where no model is at hand. */
  words_alone: string | null;
}

export interface MemoryView {
  /** The name it was stored under. */
  key: string;
  /** What is remembered. */
  content: string;
  /** What kind of memory it is. */
  category: string;
  /** When it was first stored. */
  created_at: string;
  /** When it was last stored. */
  updated_at: string;
  /** What untrusted text had been read when it was stored, where some had. */
  tainted: string | null;
}

/** A message or a task for the agent. */
export interface MessageRequest {
  /** What to do. */
  text: string;
  /** The conversation it belongs to. Without one, a new one is begun; with a name of your own that is not known yet, one under that name. */
  session_id?: string | null;
  /** Your own name for it, by which saying it again after a break is harmless. */
  message_id?: string | null;
  /** Where a new conversation works; needed only where there are several places. */
  workspace_id?: string | null;
  /** What the agent may do without asking in a new conversation; without it, what the project says. Policy files can only lower it. */
  autonomy?: Autonomy | null;
}

/** The message as it is kept, and the run that it began or belongs to. */
export interface MessageResponse {
  /** Always true. */
  success: boolean;
  /** The message. */
  message: MessageView;
  /** The run. */
  run: RunView;
}

/** One message of a conversation. */
export interface MessageView {
  /** Its id. */
  message_id: string;
  /** The conversation. */
  session_id: string;
  /** The run it belongs to. */
  run_id: string;
  /** Its place in the conversation, from 1. */
  seq: number;
  /** Who says it. */
  role: "user" | "assistant" | "tool" | "handrail";
  /** What is said. */
  parts: PartView[];
  /** The model that said it. */
  model: string | null;
  /** What it cost, by the provider's own count. */
  tokens: number | null;
  /** When, in UTC. */
  timestamp: string;
}

/** The messages of a conversation, in order. */
export interface MessagesResponse {
  /** Always true. */
  success: boolean;
  /** As many as were wanted, at most 200. */
  messages: MessageView[];
  /** The latest run; null where there was none. */
  run: RunView | null;
}

export interface ModelView {
  /** Whose model is asked; null where none is chosen. */
  provider: string | null;
  /** Which model it is. */
  model: string | null;
  /** Where its server is. */
  base_url: string | null;
  /** The first four characters of its key. */
  key: string | null;
  /** Where the key comes from. */
  key_from: string | null;
  /** Why no model can be asked, where none can. */
  trouble: string | null;
}

export interface NamedResult {
  /** Whether it was done. */
  status: "completed" | "failed";
  /** What the tool gave back; needed where it completed. */
  result?: Record<string, unknown> | null;
  /** What went wrong, in words; needed where it failed. */
  error?: string | null;
  /** What kind of failure it was. */
  error_type?: ErrorType | null;
  /** How long it took. */
  execution_time_ms?: number | null;
  /** The epoch of the signal that it answers; an older one is turned away. */
  epoch?: number | null;
  /** The call. */
  tool_id: string;
}

export interface OfferView {
  /** How far this yes would reach. */
  scope: string;
  /** The same in words. */
  words: string;
  /** What to think of before. */
  warning: string | null;
  /** How many earlier calls it would have covered, in words. */
  past: string | null;
  /** How many; null where they were not counted. */
  past_calls: number | null;
}

export interface OutcomesView {
  /** Calls that passed without a question. */
  auto_approved: number;
  /** Questions that a person said yes to. */
  approved: number;
  /** Questions that a person said no to. */
  refused: number;
  /** Questions that were not answered in time. */
  expired: number;
  /** Calls that the rules turned away. */
  denied: number;
  /** Calls refused because their agent had too many open questions. */
  over_limit: number;
}

/** A piece of a message: text, the wish for a tool, or what became of one. A `summary` stands for the model in the place of what was said before it; a `notice` is what Handrail tells the person alone. */
export interface PartView {
  /** Which of them. */
  type: "text" | "tool_use" | "tool_answer" | "summary" | "notice";
  /** What was said, or what the tool answered. */
  text: string | null;
  /** The wish that it is or answers. */
  tool_use_id: string | null;
  /** The call that came of the wish. */
  call_id: string | null;
  /** The tool. */
  name: string | null;
  /** Its parameters. */
  input: Record<string, unknown> | null;
  /** Whether it could not be done. */
  is_error: boolean | null;
}

export interface PassView {
  /** Why no person was asked: it could only look, its session has full autonomy, or a person had granted it. */
  by: "low_risk" | "full_autonomy" | "grant";
  /** What was granted, where it was a grant. */
  words: string | null;
  /** The tool. */
  tool_name: string;
  /** How many calls. */
  calls: number;
}

export interface PlanView {
  /** The files it would touch. */
  paths: string[];
  /** The commands it would run. */
  argv: string[][];
  /** The hosts it would reach. */
  hosts: string[];
  /** The box of each of the commands. */
  profiles: Profile[];
}

export interface PolicyReceipt {
  /** What goes wrong is told as a problem instead. */
  success: boolean;
  /** The folder whose rules these are. */
  workspace_id: string;
}

/** The policy file in the client's workspace, and what is proven to keep commands in there. */
export interface PolicyRequest {
  /** The file as it is; empty where there is none. */
  text: string;
  /** What keeps commands in on this machine; without it, every command asks. */
  walls?: Wall[];
}

export interface PolicyResponse {
  /** What goes wrong is told as a problem instead. */
  success: boolean;
  /** The files, the shipped one first. */
  layers: LayerView[];
  /** The rules in force, folder by folder. */
  effective: EffectiveView[];
}

/** RFC 9457: what went wrong, in a form a program can tell apart by `type`. */
export interface Problem {
  /** Which kind of problem, `urn:handrail:…`. */
  type: string;
  /** The kind in words. */
  title: string;
  /** The status code once more. */
  status: number;
  /** What is wrong with this very request. */
  detail: string;
}

/** Boxes, each of which lets through more than the one before. Compare them by `widest` only. */
export type Profile = "read" | "write" | "net";

export interface ProjectView {
  /** The id of the project, `prj_…`. */
  project_id: string;
  /** What it is called. */
  name: string;
  /** How many questions of it wait for an answer. */
  waiting: number;
}

/** One call with all that people may know of it; agents are told less. */
export interface RecordView {
  /** The id of the call, `exe_…`. */
  tool_id: string;
  /** The tool. */
  tool_name: string;
  /** `pending`, `awaiting_approval`, `approved`, `executing`, or an end: `completed`, `failed`, `rejected`, `timeout`. */
  status: string;
  /** What the tool gave back; `output` is the text for a model. */
  result: Record<string, unknown> | null;
  /** Why it did not succeed, in words. */
  error: string | null;
  /** What kind of failure it was. */
  error_type: string | null;
  /** The question that was put to people, if there was one. */
  approval_id: string | null;
  /** The parameters, with secrets masked. */
  tool_params: Record<string, unknown>;
  /** How risky it was judged to be. */
  risk_level: string;
  /** Why, in words. */
  reasons: string[];
  /** Whether a person had to be asked. */
  requires_approval: boolean;
  /** Who said yes: a person, a grant, or the policy. */
  approved_by: string | null;
  /** How far that yes reached: `once`, `class` or `session`. */
  scope: string | null;
  /** The session it belongs to. */
  session_id: string;
  /** The id the asker gave it. */
  call_id: string;
  /** Who asked. */
  agent_id: string;
  /** The name of the agent, as given with its token; null if it has none. */
  agent_name: string | null;
  /** The agent's own claim, not a fact. */
  reasoning: string | null;
  /** The exit code of a command that ran to its end; null for other calls. */
  exit_code: number | null;
  /** How long the machine took. */
  execution_time_ms: number | null;
  /** What the machine reported after the call had ended. */
  late_result: Record<string, unknown> | null;
  /** Parameters that came out of an earlier call's result, and of which. */
  origins: Record<string, string> | null;
  /** Text in the result that looks like instructions to the agent: `source`, `score` and `findings`; null where nothing does. */
  suspicion: Record<string, unknown> | null;
  /** When it was asked for. */
  created_at: string;
  /** When it was let pass. */
  approved_at: string | null;
  /** When a machine began. */
  started_at: string | null;
  /** When it ended. */
  completed_at: string | null;
  /** When its result was removed, as the retention settings say; the result is null from then on. */
  result_removed_at: string | null;
  /** Whether a person can undo it, as far as the server knows. */
  can_undo: boolean;
  /** Why it cannot be undone, in a few words; null where it can be, or was. */
  why_not_undo: string | null;
  /** When its changes were undone. */
  undone_at: string | null;
  /** The person who asked for that. */
  undone_by: string | null;
  /** The person who changed the call before it was approved; null if none did. */
  revised_by: string | null;
  /** When it was changed last. */
  revised_at: string | null;
  /** A diff of the changed parameters, from what the agent asked, with secrets masked. */
  revision: string | null;
  /** What was judged, and what a yes was bound to: words, plan and facts. */
  digest: string;
  /** Whether the digest covers what the machine was seen to hold. */
  surveyed: boolean;
  /** The freedom the agent had. */
  autonomy: string;
  /** The folder it was asked for. */
  workspace_id: string;
  /** The machine that has or had it. */
  client_id: string | null;
  /** The name of the machine, as on the Machines page; null if there is none. */
  client_name: string | null;
}

export interface RefusalView {
  /** Why, in words. */
  error: string;
  /** What kind of refusal it is. */
  error_type?: ErrorType;
}

/** A no, and why; the reason reaches the agent. */
export interface RejectRequest {
  /** Why not. */
  reason?: string | null;
  /** From which screen. */
  channel?: string;
}

/** To the client that reported. */
export interface ResultAck {
  /** The same in words. */
  message: string;
  /** `processed`: it ended the call. `received`: the call had ended without it, and it is kept as `late_result`. `rejected`: it was turned away. */
  receipt_status: "processed" | "received" | "rejected";
  /** The report has come. */
  status: "received";
  /** When it happened, in UTC. */
  timestamp: string;
  /** The call. */
  tool_id: string;
}

/** What became of a call. */
export interface ResultRequest {
  /** Whether it was done. */
  status: "completed" | "failed";
  /** What the tool gave back; needed where it completed. */
  result?: Record<string, unknown> | null;
  /** What went wrong, in words; needed where it failed. */
  error?: string | null;
  /** What kind of failure it was. */
  error_type?: ErrorType | null;
  /** How long it took. */
  execution_time_ms?: number | null;
  /** The epoch of the signal that it answers; an older one is turned away. */
  epoch?: number | null;
}

export interface ResultResponse {
  /** Whether the result was taken. */
  success: boolean;
  /** The call. */
  tool_id: string;
  /** The state of the call; `rejected` or `offered_anew` where it was not taken. */
  status: string;
  /** The same in words. */
  message: string;
}

/** Several results in one request. */
export interface ResultsRequest {
  /** Each is accepted or rejected on its own. */
  results: NamedResult[];
}

export interface ResultsResponse {
  /** One answer for each result, in the same order. */
  results: ResultResponse[];
}

/** Other parameters in the place of those that the agent asked for. */
export interface ReviseRequest {
  /** The changed parameters; the others stay as they are. */
  tool_params: Record<string, unknown>;
  /** The digest of `/editable` or of the card; with another one by now, nothing is changed. */
  digest: string;
  /** From which screen. */
  channel?: string;
}

export interface RuleTextView {
  /** The file it belongs in, as it lies in the workspace. */
  file: string;
  /** The row to add, as TOML. */
  text: string;
  /** What it catches, which may be more than what was asked. */
  covers: string;
}

/** One row; `note` says where it comes to nothing. */
export interface RuleView {
  /** `path`, `write`, `command` or `tool`. */
  kind: string;
  /** The rule's name. */
  name: string;
  /** What it comes to. */
  risk_level: string;
  /** Why. */
  reason: string;
  /** Why it has no effect, where it has none. */
  note: string | null;
}

/** The decision on a call, ordered from mild to strict. */
export type Ruling = "allow" | "draft" | "rehearse" | "ask" | "deny";

/** What a message has set going. */
export interface RunView {
  /** Its id. */
  run_id: string;
  /** The conversation. */
  session_id: string;
  /** `running`, `done`, `failed` or `stopped`. */
  status: string;
  /** Why it failed, or who stopped it. */
  error: string | null;
  /** When it began, in UTC. */
  created_at: string;
  /** When it ended, in UTC. */
  ended_at: string | null;
}

/** How far an approval reaches. */
export type Scope = "once" | "class" | "project" | "session";

export interface SelfResponse {
  /** What goes wrong is told as a problem instead. */
  success: boolean;
  /** The version of this Handrail. */
  version: string;
  /** How long the server runs. */
  uptime_seconds: number;
  /** Calls of this project since midnight UTC. */
  calls_today: number;
  /** What the person's agents have used today. */
  budget: BudgetView;
  /** The model that Handrail's own agent asks. */
  model: ModelView;
  /** Where things lie on the server; null for all but the person who runs it. */
  paths: Record<string, string> | null;
}

/** To everyone: a person trusts a session again. */
export interface SessionCleared {
  /** The session. */
  session_id: string;
  /** When it happened, in UTC. */
  timestamp: string;
  /** The call because of which it was not trusted. */
  tool_id: string;
}

/** To everyone: a result reads like orders, so its session is not trusted from now on. It comes once for each such result. */
export interface SessionTainted {
  /** What in it reads like orders. */
  reasons: string[];
  /** The session. */
  session_id: string;
  /** Where the result came from, in words. */
  source: string;
  /** When it happened, in UTC. */
  timestamp: string;
  /** The call that brought the result. */
  tool_id: string;
}

export interface SettingView {
  /** Its name. */
  key: string;
  /** What it is now, with what looks like a secret covered; null if not set. */
  value: string | number | null;
  /** Where that comes from. */
  source: Source;
  /** What it is for. */
  meaning: string;
  /** Whether an agent may ask to change it. */
  agent_may_set: boolean;
}

/** A link, exchanged for a cookie and a key. */
export interface SignInRequest {
  /** The part of the link after `#`. */
  link: string;
}

/** Who is signed in here. */
export interface SignedInResponse {
  /** What goes wrong is told as a problem instead. */
  success: boolean;
  /** The person: a user, `usr_…`, or an approver, `apv_…`. */
  user_id: string;
  /** What they are called. */
  name: string;
  /** An approver answers the questions of one project, and sees nothing else. */
  role: "user" | "approver";
  /** Their projects, oldest first. */
  projects: ProjectView[];
  /** The version of the server. */
  version: string;
  /** What time it is for the server. */
  now: string;
}

export interface SignedOutResponse {
  /** What goes wrong is told as a problem instead. */
  success: boolean;
}

export interface SkillResponse {
  /** What goes wrong is told as a problem instead. */
  success: boolean;
  /** The name it is loaded by. */
  name: string;
  /** What it is for. */
  description: string;
  /** Whether it comes with Handrail. */
  builtin: boolean;
  /** What an agent that loads it is told. */
  body: string;
}

export interface SkillView {
  /** The name it is loaded by. */
  name: string;
  /** What it is for. */
  description: string;
  /** Whether it comes with Handrail. */
  builtin: boolean;
}

export interface SkillsResponse {
  /** What goes wrong is told as a problem instead. */
  success: boolean;
  /** The skills, by name. */
  skills: SkillView[];
  /** How many there are in this answer. */
  total_count: number;
  /** A sentence about each folder that is left out. */
  warnings: string[];
}

/** Where a value comes from; the first that has one counts. */
export type Source = "environment" | "file" | "default";

export type Status = "pending" | "awaiting_approval" | "approved" | "executing" | "completed" | "rejected" | "timeout" | "failed";

/** To everyone who may see the call. Events that are addressed to a client read like this to everybody else. */
export interface StatusChange {
  /** The state it has come to. */
  status: string;
  /** When it happened, in UTC. */
  timestamp: string;
  /** The call. */
  tool_id: string;
  /** The tool. */
  tool_name: string;
}

/** From which screen the session is stopped. */
export interface StopRequest {
  /** From which screen. */
  channel?: string;
}

export interface StopResponse {
  /** What goes wrong is told as a problem instead. */
  success: boolean;
  /** The session. */
  session_id: string;
  /** Since when it is stopped. */
  stopped_at: string | null;
  /** How many calls were ended by it. */
  calls_ended: number;
}

/** The run, as it ended. */
export interface StoppedRunResponse {
  /** Always true. */
  success: boolean;
  /** The run. */
  run: RunView;
}

/** Events since the last one heard are gone; look at what there is instead. */
export interface StreamReset {
  /** The same in words. */
  message: string;
  /** When it happened, in UTC. */
  timestamp: string;
}

/** To the one client that shall look, and change nothing. */
export interface SurveyRequest {
  /** The question. */
  approval_id: string;
  /** The freedom the agent had. */
  autonomy: string;
  /** Another one once a person has changed the call; goes back with it. */
  epoch: number;
  /** It was told before, or is no longer what counts: do nothing. */
  replayed: boolean;
  /** The session. */
  session_id: string;
  /** When it happened, in UTC. */
  timestamp: string;
  /** The call. */
  tool_id: string;
  /** The tool. */
  tool_name: string;
  /** The parameters as they were sent; null where it is replayed. */
  tool_params: unknown;
  /** Whether a person waits for the evidence with nothing masked. */
  unmasked: boolean;
}

/** A session that is not trusted. */
export interface TaintView {
  /** The session. */
  session_id: string;
  /** Where the text came from, in words. */
  tainted_by: string | null;
  /** Since when. */
  tainted_at: string | null;
  /** The call that brought it. */
  tool_id: string | null;
}

export interface TaintsResponse {
  /** What goes wrong is told as a problem instead. */
  success: boolean;
  /** The sessions that are not trusted. */
  taints: TaintView[];
  /** How many there are in this answer. */
  total_count: number;
}

/** A conversation in the list of them. */
export interface TalkView {
  /** Its id. */
  session_id: string;
  /** How it began. */
  title: string;
  /** The state of its latest run. */
  status: string;
  /** When it began, in UTC. */
  created_at: string;
  /** When something was said last, in UTC. */
  last_at: string;
}

/** The conversations of a project, the latest first. */
export interface TalksResponse {
  /** Always true. */
  success: boolean;
  /** At most 100 of them. */
  sessions: TalkView[];
}

export interface TokenDay {
  /** The day in UTC, such as `2026-11-17`. */
  day: string;
  /** What the person's agents have used, in and out. */
  used_tokens: number;
  /** What the models were told, cached tokens included. */
  input_tokens: number;
  /** What the models said. */
  output_tokens: number;
  /** What the providers had kept of what they were told. */
  cached_tokens: number;
}

export interface TokensView {
  /** What may be used in a day, as it is set now; null where nothing is said. */
  limit_tokens: number | null;
  /** Every day, in all projects of the person. */
  days: TokenDay[];
}

/** To everyone who may see the call: what it had changed is as it was before. */
export interface ToolUndone {
  /** The session. */
  session_id: string;
  /** When it happened, in UTC. */
  timestamp: string;
  /** The call. */
  tool_id: string;
  /** The tool. */
  tool_name: string;
  /** When it was done. */
  undone_at: string | null;
  /** The person who asked for it. */
  undone_by: string | null;
}

export interface ToolView {
  /** The tool's name. */
  name: string;
  /** What a model is told about it. */
  description: string;
  /** JSON Schema of its parameters. */
  parameters: Record<string, unknown>;
  /** Whether a plain call of it asks a person. */
  requires_approval: boolean;
  /** What a plain call of it is rated. */
  risk_level: string;
  /** How long a person would have to answer; 0 where no person is asked. */
  timeout_seconds: number;
}

export interface ToolsResponse {
  /** What goes wrong is told as a problem instead. */
  success: boolean;
  /** The tools. */
  tools: ToolView[];
  /** How many there are in this answer. */
  total_count: number;
}

/** From which screen the session is trusted again. */
export interface TrustRequest {
  /** From which screen. */
  channel?: string;
}

export interface TrustResponse {
  /** What goes wrong is told as a problem instead. */
  success: boolean;
  /** The session. */
  session_id: string;
  /** The source of the text that looks like instructions; null if it was trusted. */
  was_tainted_by: string | null;
}

/** To the client that keeps the files as they were: a person wants these calls undone. */
export interface UndoAsked {
  /** It was told before, or is no longer what counts: do nothing. */
  replayed: boolean;
  /** When it happened, in UTC. */
  timestamp: string;
  /** The calls; the last one is undone first. */
  tool_ids: string[];
}

/** From which screen a person undoes a call, or a session. */
export interface UndoRequest {
  /** From which screen. */
  channel?: string;
}

export interface UndoResponse {
  /** Whether all of the calls are undone now. */
  success: boolean;
  /** The calls, the last one first. */
  calls: CallUndone[];
}

/** What became of the request to undo a call. */
export type UndoStatus = "undone" | "undone_before" | "refused" | "not_tried" | "not_kept";

/** Calls that can be undone, or were; the latest first, at most 500. */
export interface UndoableResponse {
  /** What goes wrong is told as a problem instead. */
  success: boolean;
  /** The calls. */
  calls: UndoableView[];
  /** How many there are in this answer. */
  total_count: number;
}

/** A call that can be undone, or was. */
export interface UndoableView {
  /** The call. */
  tool_id: string;
  /** The tool. */
  tool_name: string;
  /** The session it belongs to. */
  session_id: string;
  /** Who asked. */
  agent_id: string;
  /** The name of the agent, as given with its token; null if it has none. */
  agent_name: string | null;
  /** The files that the call has changed. */
  files: string[];
  /** When it ended. */
  completed_at: string | null;
  /** Whether it can be undone, as far as the server knows. */
  can_undo: boolean;
  /** When it was undone. */
  undone_at: string | null;
  /** The person who asked for that. */
  undone_by: string | null;
}

/** What a machine says about all calls of one request. */
export interface UndoneRequest {
  /** One answer for each call. */
  calls: CallAnswer[];
}

export interface UndoneResponse {
  /** What goes wrong is told as a problem instead. */
  success: boolean;
}

export interface WaitPoint {
  /** Questions that a person answered. */
  answered: number;
  /** Half of them were answered within so many milliseconds, to two digits. */
  median_ms: number | null;
  /** Nine of ten were answered within these. */
  p90_ms: number | null;
  /** How long they could have waited, on average. */
  timeout_ms: number | null;
  /** When the bucket begins. */
  at: string;
}

export interface WaitsView {
  /** Questions that a person answered. */
  answered: number;
  /** Half of them were answered within so many milliseconds, to two digits. */
  median_ms: number | null;
  /** Nine of ten were answered within these. */
  p90_ms: number | null;
  /** How long they could have waited, on average. */
  timeout_ms: number | null;
}

/** One thing that keeps a command in. Each is proven by trying to get past it. */
export type Wall = "namespaces" | "seccomp" | "limits" | "landlock" | "overlay";

/** Who has signed in, and what their page shows from now on. */
export interface WelcomeResponse {
  /** What goes wrong is told as a problem instead. */
  success: boolean;
  /** The person: a user, `usr_…`, or an approver, `apv_…`. */
  user_id: string;
  /** What they are called. */
  name: string;
  /** An approver answers the questions of one project, and sees nothing else. */
  role: "user" | "approver";
  /** Their projects, oldest first. */
  projects: ProjectView[];
  /** The version of the server. */
  version: string;
  /** What time it is for the server. */
  now: string;
  /** The project that the link was made for. */
  project_id: string;
  /** Beside the cookie, to be sent as `X-Handrail-Console` with every request. */
  page_key: string;
}

/** Where a question is to be found. */
export interface WhereaboutsResponse {
  /** What goes wrong is told as a problem instead. */
  success: boolean;
  /** The project it belongs to. */
  project_id: string;
}

/** Every event of the stream, by its name. */
export interface Events {
  "tool.approval_request": ApprovalRequest;
  "approval.resolved": ApprovalResolved;
  "tool.status": StatusChange;
  "tool.survey_request": SurveyRequest;
  "tool.execution_signal": ExecutionSignal;
  "tool.result_ack": ResultAck;
  "tool.cancel": Cancel;
  "tool.undo_request": UndoAsked;
  "tool.undone": ToolUndone;
  "chat.message": ChatMessage;
  "chat.delta": ChatDelta;
  "chat.run": ChatRun;
  "session.tainted": SessionTainted;
  "session.cleared": SessionCleared;
  "draft.changed": DraftChanged;
  "stream.reset": StreamReset;
}

/** How many calls a grant may let pass, in words. */
export const GRANT_USES: readonly (readonly [number | null, string])[] = [
  [null,"any number of calls"],
  [1,"1 further call"],
  [5,"5 further calls"],
  [20,"20 further calls"],
];

/** For how long a grant may hold, in words. */
export const GRANT_SECONDS: readonly (readonly [number | null, string])[] = [
  [null,"the rest of the session"],
  [900,"15 minutes"],
  [3600,"1 hour"],
  [28800,"8 hours"],
];

/** For how long a lasting answer may hold, in words. */
export const LASTING_CHOICES: readonly (readonly [number | null, string])[] = [
  [86400,"1 day"],
  [604800,"7 days"],
  [2592000,"30 days"],
  [7776000,"90 days"],
];

/** For how long it holds unless a person says otherwise. */
export const LASTING_SECONDS = 2592000;

/** What agents may do without asking, in words; the least comes first. */
export const AUTONOMIES: readonly (readonly [Autonomy, string])[] = [
  ["read_only","Agents can read. Changes are refused, even with an approval."],
  ["draft","Agents change a draft. You are asked once about all its changes."],
  ["supervised","Agents can read without asking. Changes ask you."],
  ["full","Agents can change the workspace without asking. Risky calls still ask you."],
];
