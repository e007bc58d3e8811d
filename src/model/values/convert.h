#pragma once
/// The one way from a value of the model to one of a template, a program or a file. What a value
/// may be is written down here and nowhere else, so that nobody takes an unknown for a text or what
/// is not set for null: whoever makes other values says what each of these becomes.
///
/// A maker has a type `Product` and a function for each case. Lists and dicts it goes through itself,
/// because only it knows whether it has to look at what is in them.

#include "base/invariant.h"
#include "model/values/datum.h"

namespace fettle::model {

template <typename Maker>
typename Maker::Product convert(const Datum& datum, Maker&& maker) {
  switch (datum.tag) {
    case Tag::unset:
      return maker.unset();
    case Tag::null:
      return maker.null();
    case Tag::unknown:
      return maker.unknown();
    case Tag::boolean:
      return maker.boolean(datum.boolean);
    case Tag::integer:
      return maker.integer(datum.integer);
    case Tag::large:
      return maker.large(datum.view());
    case Tag::floating:
      return maker.real(datum.floating);
    case Tag::text:
      return maker.text(datum.view());
    case Tag::list:
      return maker.list(*datum.list);
    case Tag::dict:
      return maker.dict(*datum.dict);
    case Tag::reference:  // a secret is one, too: it is not known before the model is deployed
      return maker.reference(datum);
    case Tag::instance:
      return maker.instance(datum.instance);
  }
  INVARIANT(false);
  return maker.unset();
}

}  // namespace fettle::model
