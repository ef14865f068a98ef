"""Mutation table: a small change to a rule of stopping, gates or evidence fails these tests."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from types import ModuleType

import pytest

from research.engine import (
    ahead,
    claims,
    copies,
    criteria,
    directives,
    draft,
    effort,
    evidence,
    features,
    figures,
    findings,
    gates,
    ledger,
    markdown,
    quality,
    quotes,
    report,
    sameness,
    scouting,
    similarity,
    stopping,
    unchecked,
)
from research.engine.extractive import answering, standing
from research.engine.tasks import draft as drafting
from tests.engine import (
    test_ahead,
    test_claims,
    test_copies,
    test_directives,
    test_evidence,
    test_figures,
    test_gates,
    test_quality,
    test_quotes,
    test_report,
    test_scouting,
    test_similarity,
    test_stopping,
)
from tests.engine.extractive import test_answering, test_standing
from tests.engine.mutation import Test, fails, mutated
from tests.engine.tasks import test_read

DECIDES = test_stopping.test_the_decision_table
ORDERS = test_stopping.test_of_two_reasons_the_first_in_order_wins
STANDS = test_claims.test_a_claim_that_its_quote_carries_stands
FOUND_OUT = test_claims.test_a_claim_that_says_something_else_is_found_out
NO_FIRMER = test_claims.test_a_claim_is_no_more_certain_or_general_than_its_quote
APART = test_evidence.test_claims_that_differ_in_certainty_or_sense_do_not_corroborate
AGREE = test_standing.test_sources_agree_where_they_bring_the_same_thing
SLOT = test_evidence.test_claims_worded_otherwise_contradict_each_other_in_one_slot


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
    Mutation("A3", stopping, ">= config.adaptive_quality_threshold",
             "> config.adaptive_quality_threshold", (DECIDES,)),
    Mutation("A3", stopping, "if good and not now.critical_gaps", "if good", (DECIDES,)),
    Mutation("A5", stopping, "now.open_gaps == 0", "now.open_gaps <= 2", (DECIDES,)),
    Mutation("A7", stopping, "config.adaptive_min_depth", "config.adaptive_min_depth - 1",
             (test_stopping.test_no_rule_of_quality_ends_a_run_before_its_minimum_depth,)),
    Mutation("A3", stopping, "or now.bridge or now.unsearched:", "or now.bridge:", (DECIDES,)),
    Mutation("A6", stopping, "now.unsearched or now.failing", "now.failing", (DECIDES,)),
    Mutation("A2", quality, "any(reasons) and highest > below", "False",
             (test_quality.test_what_holds_a_score_keeps_it_below_the_threshold,)),
    Mutation("A6", stopping, "< config.min_improvement", "<= config.min_improvement",
             (DECIDES,)),
    Mutation("C12", stopping, "now.units >= config", "now.units > config", (DECIDES, ORDERS)),
    Mutation("C14", stopping, "tried and now.supporting == 0", "now.supporting == 0", (DECIDES,)),
    Mutation("C15", stopping, "(now.command, now.spent)", "(now.spent, now.command)",
             (ORDERS,)),
    Mutation("D3", stopping, "if now.gates_open", "if False and now.gates_open", (DECIDES,)),
    Mutation("E6", stopping, "< config.min_novelty", "<= config.min_novelty", (DECIDES,)),
    Mutation("C14", stopping, "(0.0, 0.0)", "(0.0, 1.0)", (DECIDES, ORDERS)),
    Mutation("E6", stopping, "if now.had_news", "if False and now.had_news", (DECIDES,)),
    Mutation("E7", stopping, "if config.enable_early_termination:", "if True:",
             (test_stopping.test_early_ends_can_be_switched_off,)),
    Mutation("C14", stopping, "if now.topics_left == 0:", "if now.topics_left < 0:", (DECIDES,)),
    Mutation("E2", similarity, "own > 0 and own", "False and own",
             (test_similarity.test_one_word_of_its_own_on_each_side_is_another_topic,)),
    # score
    Mutation("A2", quality, "worth += DISPUTED", "worth += 1",
             (test_quality.test_a_dispute_holds_the_cap_down,)),
    Mutation("A2", quality, "capped = min(mean, highest)", "capped = mean",
             (test_quality.test_a_flattering_model_is_capped_and_both_scores_are_kept,)),
    # gates
    Mutation("D3", criteria, "sources, limits.independent_sources", "sources, 1",
             (test_gates.test_the_evidence_gate_asks_for_records_and_independent_sources,)),
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
    Mutation("C3", unchecked, "and not record.contradicts", "",
             (test_gates.test_a_disputed_key_claim_is_not_cross_checked,)),
    Mutation("C3", unchecked, "min(CORROBORATED, limits.sources_per_aspect)", "CORROBORATED",
             (test_gates.test_where_one_source_is_enough_a_key_claim_needs_no_second,)),
    Mutation("C3", criteria, "min(counts) >= TRIED", "min(counts) >= 1",
             (test_gates.test_what_two_searches_did_not_bring_is_not_to_be_had,)),
    Mutation("C4", criteria, "float(not critical)", "1.0",
             (test_gates.test_the_report_waits_for_the_assessment_and_for_critical_gaps,)),
    Mutation("C4", criteria, "float(ready)", "1.0",
             (test_gates.test_the_report_waits_for_the_assessment_and_for_critical_gaps,)),
    Mutation("C3", unchecked, "len(record.keys) >= wanted and", "",
             (test_gates.test_a_key_claim_of_one_source_is_not_cross_checked,)),
    Mutation("C3", criteria, "share(checked + taken, keys)", "share(checked, keys)",
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
    Mutation("F2", claims, '"number differs": foreign(said, quoted)', '"number differs": False',
             (FOUND_OUT, test_claims.test_the_context_lends_names_but_no_numbers)),
    Mutation("F2", figures, "other.unit not in {\"\", amount.unit}", "False", (FOUND_OUT,)),
    Mutation("F2", figures, "value *= 10 **", "value *= 1 **", (STANDS, FOUND_OUT)),
    Mutation("C11", claims, "return not features.negated(part)", "return False", (FOUND_OUT,)),
    Mutation("C11", claims, "term_set(clause) & scope for", "scope for", (STANDS,)),
    Mutation("C11", claims, "yield clause, _closest(term_set(clause), parts) or quote",
             "yield clause, quote", (STANDS, FOUND_OUT)),
    Mutation("C11", claims, "swapped and not opposed", "False", (FOUND_OUT,)),
    Mutation("C11", claims, "opposed and not swapped", "opposed", (STANDS,)),
    Mutation("C11", claims, "or _opposite(clause, part)", "", (FOUND_OUT,)),
    Mutation("C11", claims, "return _another_subject(claim, quote, allowed)", "return False",
             (FOUND_OUT,
              test_claims.test_a_lent_name_does_not_take_the_place_of_the_quote_s_subject)),
    Mutation("C11", claims, "and not turned", "", (STANDS,)),
    Mutation("C11", claims, "_overstated(claim, quote) or", "", (NO_FIRMER,)),
    Mutation("C11", features, "_UNCERTAIN.search(text) or _LIMITED", "_LIMITED", (NO_FIRMER,)),
    Mutation("C11", features, "start = match.start() + match.group().find(name)",
             "start = match.start()", (FOUND_OUT,)),
    Mutation("C11", claims, "own = words - (term_set(context) - quoted)", "own = words",
             (test_claims.test_support_is_the_share_of_the_claim_s_own_words,)),
    Mutation("C11", findings, "if not answers(", "if False and not answers(",
             (test_read.test_words_of_a_quote_that_do_not_answer_are_no_evidence,)),
    Mutation("C11", answering, "return tells_when(text, asked)", "return True",
             (test_answering.test_a_question_for_a_date_number_or_name_is_answered_by_one,)),
    Mutation("C11", answering, "share >= SUPPORTS and", "",
             (test_answering.test_an_answer_is_on_what_is_asked,)),
    Mutation("C11", directives, "sentence.block == block or is_order", "is_order",
             (test_directives.test_what_follows_an_order_in_its_paragraph_belongs_to_it,)),
    Mutation("C11", standing, "if given[record.id] & best", "", (AGREE,)),
    Mutation("C11", standing, "any(term_set(name) <= held", "any(term_set(name)", (AGREE,)),
    Mutation("C11", standing, "dated.years - known.years or", "", (AGREE,)),
    Mutation("C11", standing, "return amount.unit in units or not (units or things)",
             "return True", (AGREE,)),
    Mutation("C11", standing, "amount.noun in things or not is_english", "True", (AGREE,)),
    Mutation("C11", standing, "or not is_english", "", (AGREE,)),
    Mutation("C11", standing, 'elif asked.kind == "how_many"', "elif False", (AGREE,)),
    # corroboration and contradiction
    Mutation("D5", sameness, "one.uncertain == other.uncertain and not claims", "not claims",
             (APART,)),
    Mutation("D5", sameness, "and not claims.contrary(one.claim, other.claim)", "", (APART,)),
    Mutation("D5", figures, "return not foreign(one, other) and not foreign(other, one)",
             "return one.values == other.values", (APART,)),
    Mutation("D5", figures, "if years_differ:\n        return not measured",
             "if False:\n        return not measured",
             (test_figures.test_figures_exclude_each_other_by_what_they_measure,)),
    Mutation("D5", sameness, "return exclude(one.figures, other.figures)\n\n\ndef _opposed",
             "return False\n\n\ndef _opposed",
             (test_evidence.test_figures_of_the_same_measure_contradict_each_other,)),
    Mutation("D5", evidence, "rivals += self._rivals_in_slot(signature, finding, rivals)", "",
             (SLOT,)),
    Mutation("D5", evidence, "and self._independent(other, finding.source)", "", (SLOT,)),
    Mutation("D5", evidence, "(1 - 0.5**keys)", "(1 - 0.6**keys)",
             (test_evidence.test_confidence_follows_its_formula,)),
    Mutation("D5", copies, "self._keys[original] if original else independence_key",
             "independence_key",
             (test_copies.test_a_near_copy_counts_as_the_page_that_was_there_first,
              test_evidence.test_a_near_copy_on_another_site_does_not_corroborate)),
    Mutation("D5", copies, "COPIED * min(size", "0.1 * min(size",
             (test_copies.test_a_page_that_repeats_a_sentence_or_two_is_its_own_source,)),
    Mutation("D5", evidence, "also_answers=(*record.also_answers, aspect_id)", "also_answers=()",
             (test_evidence.test_a_record_answers_every_sub_question_that_it_was_found_for,)),
    Mutation("D5", ledger, "self.book.copies.add(page.sha256, page.text, page.independence_key)",
             "pass", (test_evidence.test_a_near_copy_on_another_site_does_not_corroborate,)),
    # the report that is begun ahead
    Mutation("A1", ahead, "ledger.round.number >= wished", "True",
             (test_ahead.test_a_round_before_the_least_depth_is_not_the_last,)),
    Mutation("A1", ahead, "not doubtful(run)", "True",
             (test_ahead.test_a_claim_that_is_left_to_verification_is_waited_for,)),
    Mutation("A1", ahead, "not gates.ask_for_more(ledger, run.limits, run.config)", "True",
             (test_ahead.test_a_gate_that_asks_for_more_is_waited_for,)),
    Mutation("A1", ahead, "not unsearched_leads(ledger)", "True",
             (test_ahead.test_a_lead_that_nobody_looked_up_is_waited_for,)),
    Mutation("C12", ahead, "nothing_is_missing(run) and _is_affordable(run)",
             "nothing_is_missing(run)",
             (test_ahead.test_no_draft_is_begun_on_a_budget_that_holds_only_one,)),
    Mutation("A1", ahead, "not isinstance(decision, Stop) or", "",
             (test_ahead.test_a_draft_that_was_begun_is_given_up_where_research_goes_on,)),
    Mutation("F2", drafting, "begun is None or begun.shown != _context(run, EVERYTHING)",
             "begun is None",
             (test_ahead.test_a_draft_that_rests_on_something_else_is_written_anew,)),
    # searches for leads while a round is judged
    Mutation("C12", scouting, "another and left > SPARE_ROUNDS * round_takes",
             "another", (test_scouting.test_nothing_is_scouted_where_searches_are_short,)),
    Mutation("A4", scouting, "another and left >", "left >",
             (test_scouting.test_nothing_is_scouted_after_the_last_round,)),
    Mutation("C17", scouting, "queries=(made, *topic.queries[1:])", "queries=topic.queries",
             (test_scouting.test_a_query_in_nearly_the_same_words_takes_them_too,)),
    Mutation("C17", scouting, "[*run.ledger.queries, *run.scouted, *kept]", "kept",
             (test_scouting.test_none_is_scouted_that_was_searched_for,)),
    # report
    Mutation("D14", report, "room < 0", "room < -99",
             (test_report.test_the_short_answer_ends_with_a_whole_sentence_within_80_words,)),
    Mutation("D14", report, "or aspect_id not in sections", "",
             (test_report.test_every_answered_sub_question_has_a_section,)),
    Mutation("D14", markdown, "and a.id not in shown", "",
             (test_report.test_a_sub_question_stands_in_one_place_only,)),
    Mutation("F2", draft, "if differing := claims", "if False and claims",
             (test_report.test_what_the_repair_does_not_mend_is_cut_and_the_share_shown,)),
)  # fmt: skip


@cache
def passes(test: Test) -> bool:
    return not fails(test)


@pytest.mark.parametrize("mutation", TABLE, ids=str)
def test_a_changed_rule_fails_its_tests(mutation: Mutation) -> None:
    assert all(passes(test) for test in mutation.caught_by)
    with mutated(mutation.module, mutation.old, mutation.new):
        survived = [test.__name__ for test in mutation.caught_by if not fails(test)]
    assert survived == []
    assert not fails(mutation.caught_by[0]), "the rule is itself again"
