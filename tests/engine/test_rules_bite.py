"""Mutation table: a small change to a rule of stopping, gates or evidence fails these tests."""

# ruff: noqa: E501 - fragments of code are one line each

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from types import ModuleType

import pytest

from research.engine.assessment import (
    answer_status,
    close_round,
    criteria,
    effort,
    gates,
    score,
    stop_rule,
)
from research.engine.evidence import claim_check, ledger, quotes, store
from research.engine.evidence.claims import clauses, computed, names, proof, wording
from research.engine.llm_tasks import draft as drafting
from research.engine.offline import answering
from research.engine.offline.passages import passage_signs, ranked_sentences
from research.engine.report import key_claims, speculative_draft
from research.engine.report.checking import statement_check
from research.engine.report.rendering import closing
from research.engine.rounds import findings, research_round
from research.engine.text import amounts, numerals, quantities, similarity
from research.engine.untrusted import prompt_injection
from tests.engine import test_unsearched
from tests.engine.assessment import test_gates, test_score, test_stop_rule
from tests.engine.evidence import (
    test_claim_check,
    test_computed,
    test_derived,
    test_near_duplicates,
    test_quotes,
    test_store,
)
from tests.engine.llm_tasks import test_read
from tests.engine.mutation import Test, fails, mutated
from tests.engine.offline import test_answering
from tests.engine.offline.passages import test_complete_passages, test_shown_passages
from tests.engine.report import test_report, test_speculative_draft
from tests.engine.rounds import test_prefetch_searches
from tests.engine.text import test_amounts, test_quantities, test_similarity
from tests.engine.untrusted import test_prompt_injection

DECIDES = test_stop_rule.test_the_decision_table
ORDERS = test_stop_rule.test_of_two_reasons_the_first_in_order_wins
STANDS = test_claim_check.test_a_claim_that_its_quote_carries_is_not_refused
FOUND_OUT = test_claim_check.test_a_claim_that_says_something_else_is_refused
NO_FIRMER = test_claim_check.test_a_quote_s_words_without_their_hedge_or_limit_are_refused
APART = test_store.test_claims_that_differ_in_certainty_or_sense_do_not_corroborate
HELD = test_unsearched.test_marks_of_code_that_reach_the_threshold_end_no_run_that_is_held
STATUS = test_shown_passages.test_score_mark_state_and_gap_follow_from_one_probability
SLOT = test_store.test_claims_worded_otherwise_contradict_each_other_in_one_slot


@dataclass(frozen=True)
class Mutation:
    """`old` becomes `new` in the module's source; each test of `caught_by` must fail then."""

    rule: str
    module: ModuleType
    old: str
    new: str
    caught_by: tuple[Test, ...]

    def __str__(self) -> str:
        return f"{self.rule}: {self.old} -> {self.new}"


TABLE = (
    # stop rule
    Mutation("A3", stop_rule, ">= config.adaptive_quality_threshold",
             "> config.adaptive_quality_threshold", (DECIDES,)),
    Mutation("A3", stop_rule, "and not now.is_held and not now.critical_gaps:", "and not now.is_held:", (DECIDES,)),
    Mutation("A5", stop_rule, "now.open_gaps == 0", "now.open_gaps <= 2", (DECIDES,)),
    Mutation("A7", stop_rule, "config.adaptive_min_depth", "config.adaptive_min_depth - 1",
             (test_stop_rule.test_no_rule_of_quality_ends_a_run_before_its_minimum_depth,)),
    Mutation("A3", stop_rule, "or now.bridge or now.unsearched:", "or now.bridge:", (DECIDES,)),
    Mutation("A6", stop_rule, "now.unsearched or now.failing", "now.failing", (DECIDES,)),
    Mutation("A3", stop_rule, "good and not now.is_held and", "good and", (DECIDES,)),
    Mutation("A3", close_round, "is_held=bool(held)", "is_held=False and bool(held)", (HELD,)),
    Mutation("A2", score, "any(reasons) and highest > below", "False",
             (test_score.test_what_holds_a_score_keeps_it_below_the_threshold,)),
    Mutation("A6", stop_rule, "< config.min_improvement", "<= config.min_improvement",
             (DECIDES,)),
    Mutation("C12", stop_rule, "now.units >= config", "now.units > config", (DECIDES, ORDERS)),
    Mutation("C14", stop_rule, "tried and now.supporting == 0", "now.supporting == 0", (DECIDES,)),
    Mutation("C15", stop_rule, "(now.command, now.spent)", "(now.spent, now.command)",
             (ORDERS,)),
    Mutation("D3", stop_rule, "if now.gates_open", "if False and now.gates_open", (DECIDES,)),
    Mutation("E6", stop_rule, "< config.min_novelty", "<= config.min_novelty", (DECIDES,)),
    Mutation("C14", stop_rule, "(0.0, 0.0)", "(0.0, 1.0)", (DECIDES, ORDERS)),
    Mutation("E6", stop_rule, "if now.had_news", "if False and now.had_news", (DECIDES,)),
    Mutation("E7", stop_rule, "if config.enable_early_termination:", "if True:",
             (test_stop_rule.test_early_ends_can_be_switched_off,)),
    Mutation("C14", stop_rule, "if now.topics_left == 0:", "if now.topics_left < 0:", (DECIDES,)),
    Mutation("E2", similarity, "own > 0 and own", "False and own",
             (test_similarity.test_one_word_of_its_own_on_each_side_is_another_topic,)),
    # score
    Mutation("A2", score, "worth += DISPUTED", "worth += 1",
             (test_score.test_a_dispute_holds_the_cap_down,)),
    Mutation("A2", score, "capped = min(mean, highest)", "capped = mean",
             (test_score.test_a_flattering_model_is_capped_and_both_scores_are_kept,)),
    # gates
    Mutation("D3", criteria, "sources, limits.independent_sites", "sources, 1",
             (test_gates.test_the_evidence_gate_asks_for_records_and_independent_sites,)),
    Mutation("D3", criteria, "if r.aspect_id and r.relevance >= SUPPORTS", "if r.aspect_id",
             (test_gates.test_evidence_that_answers_nothing_does_not_count,)),
    Mutation("C2", criteria, "(s.relevance or 0) >= config", "(s.relevance or 0) > config",
             (test_gates.test_the_overview_asks_for_relevant_pages,)),
    Mutation("C2", criteria, "RELEVANT_SHARE = 0.6", "RELEVANT_SHARE = 0.4",
             (test_gates.test_three_in_five_of_the_pages_read_are_to_be_relevant,)),
    Mutation("C2", criteria, "effort.sources >= TRIED", "effort.sources >= 1",
             (test_gates.test_sources_that_the_searches_do_not_know_are_not_waited_for,)),
    Mutation("C2", criteria, "effort.relevant >= TRIED", "effort.relevant >= 1",
             (test_gates.test_relevant_pages_are_not_waited_for_after_two_searches_without_one,)),
    Mutation("C3", gates, "short = [c for c in found if not c.met]", "short = []",
             (test_gates.test_a_good_mean_does_not_make_up_for_a_criterion_that_is_short,)),
    Mutation("C5", gates, "value < threshold", "False", (test_gates.test_a_pass_score_is_a_knob,)),
    Mutation("C3", ledger, "and not record.contradicts", "",
             (test_gates.test_a_disputed_key_claim_is_not_cross_checked,)),
    Mutation("C3", ledger, "min(CORROBORATED, limits.sources_per_aspect)", "CORROBORATED",
             (test_gates.test_where_one_source_is_enough_a_key_claim_needs_no_second,)),
    Mutation("C3", criteria, "min(counts) >= TRIED", "min(counts) >= 1",
             (test_gates.test_what_two_searches_did_not_bring_is_not_to_be_had,)),
    Mutation("C4", criteria, "float(not critical)", "1.0",
             (test_gates.test_the_report_waits_for_the_assessment_and_for_critical_gaps,)),
    Mutation("C4", criteria, "float(ready)", "1.0",
             (test_gates.test_the_report_waits_for_the_assessment_and_for_critical_gaps,)),
    Mutation("C3", ledger, "len(record.keys) >= wanted and", "",
             (test_gates.test_a_key_claim_of_one_source_is_not_cross_checked,)),
    Mutation("C3", criteria, "share_of(checked + taken, keys)", "share_of(checked, keys)",
             (test_gates.test_a_few_key_claims_of_one_source_are_left_to_verification,)),
    Mutation("C3", effort, "self.support.get(claim.id, 0) >= TRIED", "False",
             (test_gates.test_claims_are_given_up_that_two_searches_or_verification_did_not_confirm,)),
    Mutation("C3", effort, "claim.id in self.verified or", "",
             (test_gates.test_claims_are_given_up_that_two_searches_or_verification_did_not_confirm,)),
    # quotes and claims
    Mutation("F1", quotes, "sentence.number != run[-1].number + 1", "False",
             (test_quotes.test_neighbouring_sentences_make_one_quote_and_others_do_not,)),
    Mutation("F1", quotes, "if end - start > MAX_QUOTE", "if False",
             (test_quotes.test_a_long_sentence_is_cut_at_a_word,)),
    Mutation("F2", claim_check, "bool(foreign_amounts(claim, quote, context))", "False",
             (FOUND_OUT,)),
    Mutation("F2", claim_check, "or any(not is_known_year(date, quote) for date in dates)", "",
             (test_claim_check.test_the_context_lends_names_but_no_numbers,)),
    Mutation("F2", amounts, "if said.dimension != known.dimension:", "if False:",
             (test_amounts.test_other_amounts_differ,)),
    Mutation("F2", numerals, "value=numeral.value * factor", "value=numeral.value",
             (test_amounts.test_numbers_are_read_as_they_are_written,)),
    Mutation("C11", wording, "return not entities.is_negated(part) and", "return False and",
             (FOUND_OUT,)),
    Mutation("C11", wording, "term_set(clause) & scope for", "scope for", (STANDS,)),
    Mutation("C11", clauses, "closest_part(term_set(clause), parts) or quote", "quote",
             (STANDS,)),
    Mutation("C11", wording, "(opposed and not turned) or", "opposed or", (STANDS,)),
    Mutation("C11", wording, "or is_opposite(pair.clause, pair.part)", "", (FOUND_OUT,)),
    Mutation("C11", wording, "return hedged and not", "return False and not", (NO_FIRMER,)),
    Mutation("C11", names, "return differs and not", "return False and not",
             (FOUND_OUT,
              test_claim_check.test_a_lent_name_does_not_take_the_place_of_the_quote_s_subject)),
    Mutation("C11", computed, "(change > 0) != (said > 0)", "False",
             (test_computed.test_what_the_quotes_do_not_make_is_refused,)),
    Mutation("C11", computed, "if others or foreign_dates", "if False and foreign_dates",
             (test_computed.test_what_the_quotes_do_not_make_is_refused,)),
    Mutation("C11", claim_check, "is_near=share >= NEAR_SHARE", "is_near=False",
             (test_claim_check.test_a_claim_is_near_that_has_nearly_the_words_of_its_quote,)),
    Mutation("C11", proof, "if reason not in _SEEMING or not", "if True or not",
             (test_claim_check.test_what_may_follow_from_the_quote_refuses_nothing,)),
    Mutation("C11", proof, "not has_foreign_name(claim, quote, context) and", "",
             (test_claim_check.test_another_number_name_or_negation_is_still_refused,)),
    Mutation("C11", proof, "if one.dimension != other.dimension:", "if True:",
             (test_derived.test_a_figure_follows_by_one_operation_or_a_limit,)),
    Mutation("C11", proof, "low <= high <= low * _BEYOND", "low <= high",
             (test_derived.test_another_figure_does_not_follow,)),
    Mutation("C11", claim_check, "own = words - (term_set(context) - quoted)", "own = words",
             (test_claim_check.test_support_is_the_share_of_the_claim_s_own_words,)),
    Mutation("C11", findings, "if not _is_on(refused, claim) and not is_answer(",
             "if False and not is_answer(",
             (test_read.test_words_of_a_quote_that_do_not_answer_are_no_evidence,)),
    Mutation("C11", answering, "bool(entities.find_dates(text)) or (not", "True or (not",
             (test_answering.test_a_question_for_a_date_number_or_name_is_answered_by_one,)),
    Mutation("C11", answering, "share >= SUPPORTS and", "",
             (test_answering.test_an_answer_is_on_what_is_asked,)),
    Mutation("C11", prompt_injection, "sentence.number > begins or ", "",
             (test_prompt_injection.test_what_follows_an_order_in_its_paragraph_belongs_to_it,)),
    # passages without a model
    Mutation("C11", answer_status, "if standing.is_answer:", "if True:", (STATUS,)),
    Mutation("C11", ledger, "if not supporting or (judged", "if not supporting or (False and judged",
             (STATUS,)),
    Mutation("C11", ranked_sentences, " or _NOTICE.search(text))", ")",
             (test_complete_passages.test_notices_and_contents_are_never_quoted,)),
    Mutation("C11", passage_signs, " if any(name in text.casefold() for name in names))", ")",
             (test_shown_passages.test_a_sibling_s_default_does_not_answer,)),
    # corroboration and contradiction
    Mutation("D5", store,
             "one.uncertain == other.uncertain and not claim_check", "not claim_check", (APART,)),
    Mutation("D5", store,
             "and not claim_check.is_contrary(one.claim, other.claim)", "", (APART,)),
    Mutation("D5", quantities, "return not has_foreign_number(one, other) and not has_foreign_number(other, one)",
             "return one.values == other.values", (APART,)),
    Mutation("D5", quantities, "if years_differ:\n        return not measured",
             "if False:\n        return not measured",
             (test_quantities.test_figures_exclude_each_other_by_what_they_measure,)),
    Mutation("D5", store, "return figures_conflict(one.figures, other.figures)\n\n\ndef _is_opposed",
             "return False\n\n\ndef _is_opposed",
             (test_store.test_figures_of_the_same_measure_contradict_each_other,)),
    Mutation("D5", store, "rivals += self._rivals_in_slot(signature, finding, rivals)", "",
             (SLOT,)),
    Mutation("D5", store, "and self._is_independent(other, finding.source)", "", (SLOT,)),
    Mutation("D5", store, "(1 - 0.5**keys)", "(1 - 0.6**keys)",
             (test_store.test_confidence_follows_its_formula,)),
    Mutation("D5", similarity, "self._keys[original] if original else independence_key",
             "independence_key",
             (test_near_duplicates.test_a_near_copy_counts_as_the_page_that_was_there_first,
              test_store.test_a_near_copy_on_another_site_does_not_corroborate)),
    Mutation("D5", similarity, "self.copied_share * shorter", "0.1 * shorter",
             (test_near_duplicates.test_a_page_that_repeats_a_sentence_or_two_is_its_own_source,)),
    Mutation("D5", store, "also_answers=(*record.also_answers, aspect_id)", "also_answers=()",
             (test_store.test_a_record_answers_every_sub_question_that_it_was_found_for,)),
    Mutation("D5", ledger, "self.book.copies.add(page.sha256, page.text, page.independence_key)",
             "pass", (test_store.test_a_near_copy_on_another_site_does_not_corroborate,)),
    # the report that is begun ahead
    Mutation("A1", speculative_draft, "ledger.round.number >= wished", "True",
             (test_speculative_draft.test_a_round_before_the_least_depth_is_not_the_last,)),
    Mutation("A1", speculative_draft, "not doubtful_claims(run)", "True",
             (test_speculative_draft.test_a_claim_that_is_left_to_verification_is_waited_for,)),
    Mutation("A1", speculative_draft,
             "not gates.ask_for_more(ledger, run.limits, run.config, run.rules)", "True",
             (test_speculative_draft.test_a_gate_that_asks_for_more_is_waited_for,)),
    Mutation("A1", speculative_draft, "not unsearched_leads(ledger)", "True",
             (test_speculative_draft.test_a_lead_that_nobody_looked_up_is_waited_for,)),
    Mutation("C12", speculative_draft, "nothing_is_missing(run) and _is_affordable(run)",
             "nothing_is_missing(run)",
             (test_speculative_draft.test_no_draft_is_begun_on_a_budget_that_holds_only_one,)),
    Mutation("A1", speculative_draft, "not isinstance(decision, Stop) or", "",
             (test_speculative_draft.test_a_draft_that_was_begun_is_given_up_where_research_goes_on,)),
    Mutation("F2", drafting, ' or {**begun.shown, "gaps": ()} != {**now, "gaps": ()}', "",
             (test_speculative_draft.test_a_draft_that_rests_on_something_else_is_written_anew,)),
    # searches for leads while a round is judged
    Mutation("C12", research_round, "another and left > SPARE_ROUNDS * round_takes",
             "another", (test_prefetch_searches.test_nothing_is_scouted_where_searches_are_short,)),
    Mutation("A4", research_round, "another and left >", "left >",
             (test_prefetch_searches.test_nothing_is_scouted_after_the_last_round,)),
    Mutation("C17", research_round,
             "queries=(made, *topic.queries[1:])", "queries=topic.queries",
             (test_prefetch_searches.test_a_query_in_nearly_the_same_words_takes_them_too,)),
    Mutation("C17", research_round, "[*run.ledger.queries, *run.scouted, *kept]", "kept",
             (test_prefetch_searches.test_none_is_scouted_that_was_searched_for,)),
    # report
    Mutation("D14", key_claims, "room < 0", "room < -99",
             (test_report.test_the_short_answer_ends_with_a_whole_sentence_within_80_words,)),
    Mutation("D14", key_claims, "or aspect_id not in covered", "",
             (test_report.test_every_answered_sub_question_has_a_section,)),
    Mutation("D14", closing, "and a.id not in shown", "",
             (test_report.test_a_sub_question_stands_in_one_place_only,)),
    Mutation("F2", statement_check, "if check.outcome == \"refused\":", "if False:",
             (test_report.test_what_the_repair_does_not_mend_is_cut_and_the_share_shown,)),
)  # fmt: skip


@cache
def passes(test: Test) -> bool:
    return not fails(test)


@pytest.mark.slow
@pytest.mark.parametrize("mutation", TABLE, ids=str)
def test_a_changed_rule_fails_its_tests(mutation: Mutation) -> None:
    assert all(passes(test) for test in mutation.caught_by)
    with mutated(mutation.module, mutation.old, mutation.new):
        survived = [test.__name__ for test in mutation.caught_by if not fails(test)]
    assert survived == []
    assert not fails(mutation.caught_by[0]), "the rule is itself again"
