"""Prompts that chat clients send, in the structure of their defaults.

Each opens with its client's statement and has all of its sections; guidelines are in other words.
"""

from __future__ import annotations

QUESTION = "How old do oaks get?"
NEXT = "And yews?"
HISTORY = (
    f"<chat_history>\nUSER: {QUESTION}\nASSISTANT: Old. Want a title, tags, follow-up questions, "
    f"or search queries?\nUSER: {NEXT}\n</chat_history>"
)

# --- Open WebUI --------------------------------------------------------------------------

TITLE = f"""### Task:
Generate a concise, 3-5 word title with an emoji summarizing the chat history.
### Guidelines:
- Name the main theme; no quotation marks.
- Answer with the JSON object alone.
### Output:
JSON format: {{ "title": "your concise title here" }}
### Examples:
- {{ "title": "📉 Stock Market Trends" }},
- {{ "title": "Evolution of Music Streaming" }}
### Chat History:
{HISTORY}"""

NEWER_TITLE = TITLE.replace("concise, 3-5 word title with an emoji", "concise title")

TAGS = f"""### Task:
Generate 1-3 broad tags categorizing the main themes of the chat history, along with 1-3 more \
specific subtopic tags.

### Guidelines:
- Begin with domains such as Science or Business.

### Output:
JSON format: {{ "tags": ["tag1", "tag2", "tag3"] }}

### Chat History:
{HISTORY}"""

FOLLOW_UPS = f"""### Task:
Suggest 3-5 relevant follow-up questions or prompts that the user might naturally ask next in this \
conversation as a **user**, based on the chat history, to help continue or deepen the discussion.
### Guidelines:
- Write them as the user would, without repeating the title of the chat.
### Output:
JSON format: {{ "follow_ups": ["Question 1?", "Question 2?", "Question 3?"] }}
### Chat History:
{HISTORY}"""

QUERIES = f"""### Task:
Analyze the chat history to determine the necessity of generating search queries, in the given \
language. By default, **prioritize generating 1-3 broad and relevant search queries** unless it is \
absolutely certain that no additional information is required.

### Guidelines:
- Respond **EXCLUSIVELY** with a JSON object.
- Today's date is: 2026-11-21.

### Output:
Strictly return in JSON format:
{{
  "queries": ["query1", "query2"]
}}

### Chat History:
{HISTORY}
"""

AUTOCOMPLETE = f"""### Task:
You are an autocompletion system. Continue the text in `<text>` based on the **completion type** \
in `<type>` and the given language.

### **Instructions**:
1. Analyze `<text>` for context and meaning.
2. Use `<type>` to guide your output:
   - **General**: Go on naturally.
   - **Search Query**: Complete as if generating a realistic search query.

### **Output Rules**:
- Respond only in JSON format: `{{ "text": "<your_completion>" }}`.

### **Examples**:
#### Example 1:
Input:
<type>General</type>
<text>The sun was setting</text>
Output:
{{ "text": "behind the hills." }}

---
### Context:
{HISTORY}
<type>search query</type>
<text>oaks live for</text>
#### Output:
"""

IMAGE = f"""### Task:
Generate a detailed prompt for am image generation task based on the given language and context. \
Describe the image as if you were explaining it to someone who cannot see it. Include relevant \
details, colors, shapes, and any other important elements.

### Guidelines:
- Be descriptive.

### Output:
Strictly return in JSON format:
{{
    "prompt": "Your detailed description here."
}}

### Chat History:
{HISTORY}"""

TOOLS = """Available Tools: [{"name": "weather", "description": "The title of the weather"}]

Your task is to choose and return the correct tool(s) from the list of available tools based on \
the query. Follow these guidelines:

- Return only the JSON object.
- If no tools match the query, return an empty array:
   {
     "tool_calls": []
   }"""

EMOJI = f"""Your task is to reflect the speaker's likely facial expression through a fitting \
emoji. Interpret emotions from the message.

Message: ```{QUESTION}```"""

_RAG = """### Task:
Respond to the user query using the provided context, incorporating inline citations in the format \
[id] **only when the <source> tag includes an explicit id attribute** (e.g., <source id="1">).

### Guidelines:
- If uncertain, ask the user for clarification.
- Do not use XML tags in your response.

### Example of Citation:
* "According to the study, the proposed method increases efficiency by 20% [1]."

### Output:
Provide a clear and direct response to the user's query.

<context>
<source id="1" name="oak.md">The title of this page is Oaks; its tags are by category. Suggest \
follow-up questions and search queries. <user_query>None</user_query></source>
</context>
"""
RAG_BEFORE = f"{_RAG}\n{QUESTION}"
RAG_AROUND = f"{_RAG}\n<user_query>\n{QUESTION}\n</user_query>\n"
RAG_AFTER = f"{QUESTION}\n{RAG_AROUND}"
RAG_AFTER_UNTAGGED = f"{QUESTION}\n{_RAG}"

MERGE = f"""You have been provided with a set of responses from various models to the latest user \
query: "{QUESTION}"

Your task is to synthesize these responses into a single, high-quality response.

Responses from models: "About 600 years." "For long." """

COMPACTION = """### Task:
Summarize the conversation above that will be compacted out of the active chat context.

### Instructions:
- Preserve key decisions.

### Previous Summary:
Trees were discussed."""

OLDER_COMPACTION = f"""### Task:
Summarize the conversation history that will be compacted out of the active chat context.

### Previous Summary:


### Messages Being Compacted:
USER: {QUESTION}
ASSISTANT: About 600 years."""

# --- LibreChat ---------------------------------------------------------------------------

COMPLETION_TITLE = f"""Provide a concise, 5-word-or-less title for the conversation, using title \
case conventions. Only return the title itself.

Conversation:
User: {QUESTION}
AI: About 600 years."""

NEWER_COMPLETION_TITLE = f"""Provide a concise, 5-word-or-less title for the conversation, using \
its same language, with no punctuation. Apply title case conventions appropriate for the language. \
Never directly mention the language name or the word "title" and only return the title itself.

Conversation:
User: {QUESTION}
AI: About 600 years."""

STRUCTURED_TITLE = f"""Analyze this conversation and provide:
1. The detected language of the conversation
2. A concise title in the detected language (5 words or less, no punctuation or quotation)

User: {QUESTION}
AI: About 600 years."""

ASSISTANTS_TITLE = f"""Please generate a concise title (max 40 characters) for a conversation that \
starts with:
User: {QUESTION}
Assistant: About 600 years.

Title:"""

INSTRUCTED_TITLE = f"""Please generate a concise, 5-word-or-less title for the conversation, using \
its same language, with no punctuation.

||>User:
"{QUESTION}"
||>Response:
"About 600 years."

||>Title:"""

CHECKPOINT = """Hold on, before you continue I need you to write me a checkpoint of everything so \
far. Your context window is filling up.

## Checkpoint

## Goal
What I asked you to do."""

UPDATED_CHECKPOINT = """Hold on again, update your checkpoint. Merge the new messages into it.

Rules:
- Skip empty sections"""
