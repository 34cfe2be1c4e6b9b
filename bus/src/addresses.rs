//! The subjects the runtime uses, all of them: who listens there, and what is said.
//!
//! None of them carries anything that must last: each has a letter, a frame or a sweep beside it.

use leasehold_types::{BootId, InstanceId, Slot, Tenant, TreeId};

use crate::{FilterPart, Subject, SubjectError, SubjectFilter};

/// The third part of a subject that answers go to.
pub(crate) const INBOX: &str = "inbox";

/// A slot's doorbell, `lh.<tenant>.bell.<slot>`: its keeper looks at a tree. The subject of stored letters is the truth.
///
/// # Errors
/// The tenant cannot stand in a subject.
pub fn doorbell(tenant: &Tenant, slot: Slot) -> Result<Subject, SubjectError> {
    Subject::new(tenant, &["bell", &slot.to_string()])
}

/// One start of an instance, `lh.<tenant>.ask.<instance>.<boot>`: asks that it answers. A later start is not asked.
///
/// # Errors
/// The tenant or the instance's name cannot stand in a subject.
pub fn ask(tenant: &Tenant, instance: &InstanceId, boot: BootId) -> Result<Subject, SubjectError> {
    Subject::new(tenant, &["ask", instance.as_str(), &boot.to_string()])
}

/// The owner of a tree, `lh.<tenant>.cancel.<tree>`: cancel now. The letter beside it is what counts.
///
/// # Errors
/// The tenant cannot stand in a subject.
pub fn cancel(tenant: &Tenant, tree: TreeId) -> Result<Subject, SubjectError> {
    Subject::new(tenant, &["cancel", &tree.to_string()])
}

/// Followers of a tree, `lh.<tenant>.live.<tree>`: numbered events. What was missed is read from the journal.
///
/// # Errors
/// The tenant cannot stand in a subject.
pub fn live(tenant: &Tenant, tree: TreeId) -> Result<Subject, SubjectError> {
    Subject::new(tenant, &["live", &tree.to_string()])
}

/// Hears the live events of all trees of a tenant.
///
/// # Errors
/// The tenant cannot stand in a subject.
pub fn live_of_tenant(tenant: &Tenant) -> Result<SubjectFilter, SubjectError> {
    SubjectFilter::new(tenant, &[FilterPart::Is("live"), FilterPart::Any])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_is_written_as_its_doc_says() {
        let tenant = Tenant::default();
        let tree = TreeId::from_u128(7);
        let written = [
            doorbell(&tenant, Slot::numbered(9).unwrap()),
            ask(&tenant, &InstanceId::new("pod-1.eu"), BootId::from_u128(1)),
            cancel(&tenant, tree),
            live(&tenant, tree),
        ];
        let written = written.map(|subject| subject.unwrap().to_string());
        assert_eq!(
            written,
            [
                "lh.default.bell.9",
                "lh.default.ask.pod-1%2Eeu.00000000000000000000000001",
                "lh.default.cancel.00000000000000000000000007",
                "lh.default.live.00000000000000000000000007",
            ]
        );
        let all = live_of_tenant(&tenant).unwrap();
        assert!(all.matches(&live(&tenant, tree).unwrap()));
        assert!(!all.matches(&cancel(&tenant, tree).unwrap()));
    }

    // CASE 47
    #[test]
    fn two_starts_of_one_instance_are_asked_at_two_addresses() {
        let (tenant, instance) = (Tenant::default(), InstanceId::new("pod-1"));
        let of = |boot| ask(&tenant, &instance, BootId::from_u128(boot)).unwrap();
        assert_ne!(of(1), of(2));
    }
}
