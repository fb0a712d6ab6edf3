"""Starting one arm: a unit per interface in one workspace (spec 12 §12.8)."""

from collections.abc import Mapping

from eval_quality.core.contract.operation import AnyInterface
from eval_quality.model.contract import EvalContract
from eval_quality.run.arm import Arm
from eval_quality.run.driver.callable import CallableUnit
from eval_quality.run.driver.command import CommandUnit
from eval_quality.run.driver.service import AddressUnit, ServiceUnit
from eval_quality.run.driver.setting import Setting
from eval_quality.run.driver.tool import ToolUnit
from eval_quality.run.experiment.document import Interface
from eval_quality.run.session import Unit


def start_units(
    contract: EvalContract, bindings: Mapping[str, Interface], arm: Arm, setting: Setting
) -> dict[str, Unit]:
    """Start every interface of the arm; what was started is ended again when one of them fails.

    Raises `Void` for infrastructure, `RunFault` for a launch that can never succeed.
    """
    units: dict[str, Unit] = {}
    try:
        for interface in contract.permitted_interfaces:
            units[interface.logical_id] = _unit(interface, bindings[interface.logical_id], arm, setting)
    except BaseException:
        for unit in units.values():
            unit.close()
        raise
    return units


def _unit(interface: AnyInterface, binding: Interface, arm: Arm, setting: Setting) -> Unit:
    launches = tuple(launch for launch in arm.launches if launch.interface_id == interface.logical_id)
    if binding.kind == "cli":
        return CommandUnit(interface, binding, launches, setting)
    if binding.kind == "mcp":
        return ToolUnit(interface, binding, launches[0], setting)
    if binding.kind == "python":
        return CallableUnit(interface, binding, launches[0], setting)
    if binding.address is not None:
        return AddressUnit(interface, binding, setting)
    return ServiceUnit(interface, binding, launches[0], setting)
